"""The base classes of the commands for ``python -m libcst.tool codemod``.

libcst.codemod is imported here and in the command files only: it takes longer to import than the rest of libcst, and
art-adapt itself does without it.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import ClassVar

import libcst as cst
from libcst.codemod import CodemodCommand

from art_adapt.codemods import editing


class FileCommand(CodemodCommand):
    """Edit a file as bytes."""

    @abstractmethod
    def edited(self, path: str, data: bytes) -> bytes: ...

    def transform_module_impl(self, tree: cst.Module) -> cst.Module:
        path = self.context.filename or "agent.py"
        return cst.parse_module(self.edited(path, tree.bytes))


class HookCommand(FileCommand):
    """Put hooks of one kind where the survey finds that they belong, and import them."""

    hook: ClassVar[str]

    def edited(self, path: str, data: bytes) -> bytes:
        return editing.add_hooks(path, data, self.hook)
