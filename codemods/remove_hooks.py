"""Take all hooks and their import off a file, back to its author's bytes."""

from __future__ import annotations

from art_adapt.codemods import editing
from art_adapt.codemods.case import Case
from art_adapt.codemods.command import FileCommand


class RemoveHooks(FileCommand):
    DESCRIPTION = "Take the hooks of art_recording off a file."

    def edited(self, path: str, data: bytes) -> bytes:
        return editing.remove_hooks(path, data)


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
