"""What a hook costs in a process without a recorder, and without ART or art_adapt.

    python tests/benchmarks/hook_in_production.py

Prints microseconds over the bare call, the least of several rounds: the hook at each call,
the wrapping of the SDK's own method, and the other hooks. Goal: under 1 us each.
"""

from __future__ import annotations

import importlib.util
import sys
import timeit
from collections.abc import Callable
from pathlib import Path
from typing import Any

from openai import OpenAI

HOOKS = Path(__file__).parents[2] / "art_adapt" / "hooks.py"


def microseconds(statement: Callable[[], Any], number: int = 50_000) -> float:
    # The least of many: what else the machine does can only add to it.
    return min(timeit.repeat(statement, number=number, repeat=11)) / number * 1e6


def main() -> None:
    spec = importlib.util.spec_from_file_location("art_recording", HOOKS)
    assert spec is not None and spec.loader is not None
    hooks: Any = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(hooks)
    assert not any(name.startswith("art_adapt") for name in sys.modules)

    def nothing(**_: Any) -> None: ...

    create = OpenAI(base_url="http://unset", api_key="sk").chat.completions.create
    empty = microseconds(lambda: None)
    bare = microseconds(lambda: nothing(model="m"))
    recorded, answer = hooks.recorded, hooks.final_answer
    for what, cost in {
        "recorded(f)(...) over f(...)": microseconds(
            lambda: recorded(nothing)(model="m")
        )
        - bare,
        "recorded(client.chat.completions.create)": microseconds(
            lambda: recorded(create)
        )
        - empty,
        "final_answer(value)": microseconds(lambda: answer("text")) - empty,
    }.items():
        print(f"{cost:6.2f} us  {what}")


if __name__ == "__main__":
    main()
