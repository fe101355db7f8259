"""The edits that art-adapt makes, as libcst transformers, each also a command for
``python -m libcst.tool codemod``.
"""
