"""art_recording.py is not the file that this art-adapt writes, so it may record wrongly

``art_recording.py`` holds hooks that belong to one version of the recorder. Edited ones, or
ones that an older art-adapt wrote, may record otherwise than the train module expects. Without
the file, the agent cannot be imported, in production either.

Run ``art-adapt`` on the agent again: it writes the file. Commit it with the agent.

Evidence: art_recording.py (its docstring).
"""

from __future__ import annotations

from collections.abc import Iterator

from art_adapt import hooks_file
from art_adapt.code.hooks import hook_imports, present_hooks_place
from art_adapt.rules.code import Code
from art_adapt.rules.rule import Found, Rule, Severity, found
from art_adapt.train_file import standing_module

RULE = Rule("ART103", "stale-recorder", Severity.WASTE)
BAD = (
    '''\
"""Hooks that record an agent's model calls on an ART trajectory while it trains."""  # <-

def recorded(create):
    return create
''',
    '''\
"""Hooks that let ART train this agent; in production each returns what it is given."""  # <-

def recorded(create):
    return create
''',
)
GOOD = ("def recorded(create):\n    return create\n",)


def check(code: Code) -> Iterator[Found]:
    data = code.source.data
    hooks = present_hooks_place(code.syntax)
    if (
        hooks is not None
        and standing_module(code.source.path) is not None
        and not (hooks.folder / hooks_file.NAME).is_file()
        and not any((f / hooks_file.NAME).is_file() for f in hooks.folder.parents)
    ):
        yield found(
            next(iter(hook_imports(code.syntax.source.tree))),
            f"there is no {hooks_file.NAME} here, so the agent cannot be imported: run art-adapt "
            "on it again, and commit both",
        )
    if hooks_file.is_ours(data) and not hooks_file.is_current(data):
        first = data.partition(b"\n")[0]
        yield Found(
            "these hooks were edited, or another version of art-adapt wrote them: run "
            "art-adapt on the agent again",
            1,
            0,
            1,
            len(first.rstrip(b"\r")),
        )
