"""Takes all hooks and their import off a file: it is as its author wrote it again, byte
for byte.
"""

from __future__ import annotations

import libcst as cst
from libcst.codemod import CodemodCommand, SkipFile

from art_adapt.adaptation import remove
from art_adapt.codemods.case import Case
from art_adapt.codemods.command import source_of
from art_adapt.errors import Refusal
from art_adapt.plan import DEFAULT_LINE_LENGTH


class RemoveHooks(CodemodCommand):
    DESCRIPTION = "Take the hooks of art_recording off a file."

    def transform_module_impl(self, tree: cst.Module) -> cst.Module:
        try:
            return cst.parse_module(remove(source_of(self, tree), DEFAULT_LINE_LENGTH))
        except Refusal as refusal:
            raise SkipFile(str(refusal)) from refusal


CASES = (
    Case(
        "hooks under other names, in a package, with code that came later",
        """
        from openai import OpenAI

        # kept: somebody wrote this above the import
        from .art_recording import final_answer, recorded as art_recorded


        def run(task):
            new = final_answer(art_recorded(OpenAI().chat.completions.create)(messages=[]))
            return new
        """,
        """
        from openai import OpenAI

        # kept: somebody wrote this above the import


        def run(task):
            new = OpenAI().chat.completions.create(messages=[])
            return new
        """,
    ),
    Case(
        "a file without hooks",
        """
        def recorded(x):
            return x
        """,
    ),
)
