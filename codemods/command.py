"""What the commands share: each puts one kind of hook into a file, or takes all of them
off.

libcst.codemod is imported here and in the command files only: it takes longer than the
rest of libcst, and art-adapt itself does without it.
"""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar

import libcst as cst
from libcst.codemod import CodemodCommand, SkipFile

from art_adapt.adaptation import adapt_source, wraps_of
from art_adapt.decisions import decide
from art_adapt.errors import Refusal
from art_adapt.plan import DEFAULT_LINE_LENGTH
from art_adapt.settings import Options
from art_adapt.source import Source
from art_adapt.survey.survey import survey


def source_of(command: CodemodCommand, tree: cst.Module) -> Source:
    return Source(Path(command.context.filename or "agent.py").absolute(), tree.bytes)


class HookCommand(CodemodCommand):
    """Puts the hooks named ``hook`` where the survey finds that they belong, and their
    import with them.
    """

    hook: ClassVar[str]

    def transform_module_impl(self, tree: cst.Module) -> cst.Module:
        source = source_of(self, tree)
        try:
            found = survey([source])
            decisions = decide(found, Options(train_module=False))
            file = next(f for f in found.files if f.source.path == source.path)
            wraps = wraps_of(file, decisions, (self.hook,))
            dots = "." if file.package else ""
            return cst.parse_module(
                adapt_source(file, wraps, dots, DEFAULT_LINE_LENGTH)
            )
        except Refusal as refusal:
            raise SkipFile(str(refusal)) from refusal
