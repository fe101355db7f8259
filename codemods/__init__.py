"""Edit agents with libcst: one transformer a file, each also a command of its tool.

The transformers are given a file's trees, its lines and the places to edit. They import nothing of art_adapt but its
``span`` module.
"""
