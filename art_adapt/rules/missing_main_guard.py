"""The training script has no __main__ guard, so LocalBackend's subprocess runs it again

``art.local`` sets multiprocessing to "spawn", and LocalBackend starts its model service in a
process that imports the main module again. Without a guard, training starts again in that
process and ends with a RuntimeError.

Write ``if __name__ == "__main__": asyncio.run(main())``.

Evidence: art 0.5.18 and 0.5.23, mp_actors/move.py:23-24 and local/backend.py
(move_to_child_process).
"""

from __future__ import annotations

from collections.abc import Iterator

from art_adapt.code.syntax import MODULE_LEVEL
from art_adapt.rules.code import Code
from art_adapt.rules.rule import Found, Rule, Severity, found

RULE = Rule("ART513", "missing-main-guard", Severity.WASTE)
BAD = (
    """\
import art, asyncio
from art.local import LocalBackend

async def main():
    backend = LocalBackend()
    await backend.close()

asyncio.run(main())  # <-
""",
)
GOOD = (
    BAD[0].replace(
        "asyncio.run(main())  # <-",
        'if __name__ == "__main__":\n    asyncio.run(main())',
    ),
    BAD[0]
    .replace("  # <-", "")
    .replace("LocalBackend()", "LocalBackend(in_process=True)"),
)


def check(code: Code) -> Iterator[Found]:
    backends = [
        call
        for call in code.art_calls("LocalBackend")
        if not any(each.arg == "in_process" for each in call.keywords)
    ]
    if not backends or "__name__" in code.source.text:
        return
    for call in code.calls:
        if code.syntax.qualified(call.func) not in ("asyncio.run", "uvloop.run"):
            continue
        if code.syntax.owner(call) == MODULE_LEVEL:
            yield found(
                call,
                "without a __main__ guard, LocalBackend's subprocess runs this again and "
                "fails",
            )
