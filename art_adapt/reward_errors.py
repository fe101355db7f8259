"""Say what to change in a reward function that raised."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from difflib import get_close_matches
from typing import Any

# A key of a row that is not there: ``scenario.expected``, or ``row["expected"]``.
NO_KEY = re.compile(
    r"^(AttributeError: 'Scenario' object has no attribute |KeyError: )'(\w+)'"
)
CALLED = re.compile(
    r"^TypeError: (\w+)\(\) (takes \d+ positional arguments? but 2 were given"
    r"|missing \d+ required positional argument)"
)
NO_MODULE = re.compile(r"^ModuleNotFoundError: No module named '([\w.]+)'")
# What training.rewards adds to an error, or raises itself.
OF_OBJECT = re.compile(r"\(final_answer is a \w+\)$")
NO_NUMBER = re.compile(
    r"^TypeError: it returned .*, which is no number$|^ValueError: the reward is .*group$"
)
NO_ATTRIBUTE = re.compile(r"'\w*Trajectory' object has no attribute '(\w+)'")
# What rewards read: of ART 0.5.23, trajectories.py, and what training.Trajectory adds.
OF_TRAJECTORIES = (
    "final_answer",
    "scenario",
    "messages_and_choices",
    "additional_histories",
    "tools",
    "reward",
    "metrics",
    "metadata",
    "logs",
    "duration",
)


def remedy(error: str, keys: Collection[str], source: str) -> str:
    """Say what to change so that a reward function does not raise ``error``.

    ``keys``: of the scenarios' rows; ``source``: of the train module, which names the function.
    """
    if (key := NO_KEY.match(error)) is not None:
        near = get_close_matches(key[2], keys, 1)
        if near and key[2] not in keys and key[1].startswith("AttributeError"):
            return f"did you mean {near[0]}, which the rows have?"
        return f'add "{key[2]}" to every row of the scenarios, or read another key'
    called = CALLED.match(error)
    if called is not None and re.search(rf"\b{called[1]}\b", source):
        return f"it is called with two arguments: def {called[1]}(trajectory, scenario)"
    if NO_NUMBER.search(error) is not None:
        return "return a finite number, or a dict whose values are"
    if (name := NO_ATTRIBUTE.search(error)) is not None:
        near = get_close_matches(name[1], OF_TRAJECTORIES, 1)
        known = (
            f"did you mean {near[0]}?"
            if near
            else f"it has {', '.join(OF_TRAJECTORIES)}"
        )
        return f"a trajectory has no {name[1]}: {known}"
    if OF_OBJECT.search(error) is not None:
        return "read what it needs of that object: an attribute, an entry, or its text"
    if (missing := NO_MODULE.match(error)) is not None:
        return f"install {missing[1]}, or put it where the train module finds it"
    if error.startswith("NameError"):
        return "define that name in the reward's module, or correct its spelling"
    low = "return a low reward for an episode that it cannot score, such as one without an answer"
    is_text = error.startswith("TypeError") and "str" in error
    return low + "; convert a row's text to a number (CSV has only text)" * is_text


def row_keys(rows: Iterable[Any]) -> list[str]:
    """Return the keys that rows have, each once."""
    return list(
        dict.fromkeys(key for row in rows if isinstance(row, dict) for key in row)
    )
