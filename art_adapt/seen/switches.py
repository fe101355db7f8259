"""Have the settings that episode() makes hold the switches and numbers that runs set."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from art_adapt.seen.notes import Call
from art_adapt.survey.model import Parameter

SWITCHES = (bool, int, float)


def with_switches(parameter: Parameter, calls: Sequence[Call]) -> Parameter:
    """Make an object with what each run's had: ``Settings(hints=True, max_steps=3)``.

    Reading has the defaults of the command line there: what nobody types. ``calls``: of the
    function that is given the object.
    """
    made, name = parameter.made, parameter.name
    notes = [call.given[name].get("value") for call in calls if name in call.given]
    held = [each for each in notes if isinstance(each, dict)]
    if made is None or not held or len(held) < len(notes):
        return parameter
    same = {
        key: value
        for key, value in held[0].items()
        if isinstance(value, SWITCHES) and all(e.get(key) == value for e in held)
    }
    statements = tuple(
        replace(each, text=_with_values(each.text, same))
        if made.value in each.binds
        else each
        for each in made.statements
    )
    value = _with_values(made.value, same)
    return replace(parameter, made=replace(made, value=value, statements=statements))


def _with_values(text: str, values: Mapping[str, Any]) -> str:
    """Return code with these values in place of the constants that a call gives by their names."""
    lines = text.encode().split(b"\n")
    for given, value in reversed(list(_given(text, values))):
        line = lines[given.lineno - 1]
        start, end = given.col_offset, given.end_col_offset
        lines[given.lineno - 1] = line[:start] + repr(value).encode() + line[end:]
    return b"\n".join(lines).decode()


def _given(text: str, values: Mapping[str, Any]) -> Iterator[tuple[ast.expr, Any]]:
    statements = ast.parse(text).body
    made = getattr(statements[0], "value", None) if len(statements) == 1 else None
    for each in made.keywords if isinstance(made, ast.Call) else ():
        constant = each.value.value if isinstance(each.value, ast.Constant) else ...
        name = each.arg or ""
        if isinstance(constant, SWITCHES) and name in values:
            yield each.value, values[name]
