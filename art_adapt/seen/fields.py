"""Let what was seen say which parameters are a scenario's, and of which type they are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from art_adapt.seen.decision import Seen, key_of
from art_adapt.seen.episodes import Enclosing, SeenFunction
from art_adapt.seen.notes import Call
from art_adapt.survey.model import EntryPoint, Parameter, SetupCall, Survey

TYPES = {
    str: "str",
    bool: "bool",
    int: "int",
    float: "float",
    list: "list",
    dict: "dict",
}


def with_given(survey: Survey, seen: Seen | None) -> Survey:
    """Describe the function that was seen by what it was given: the task is a scenario's."""
    function = None if seen is None else seen.function
    if function is None:
        return survey
    entries = tuple(
        _given(entry, function) if key_of(entry) == function.key else entry
        for entry in survey.entry_points
    )
    return replace(survey, entry_points=entries)


def _given(entry: EntryPoint, seen: SeenFunction) -> EntryPoint:
    calls = [each.call for each in seen.calls]
    inits = [call for each in seen.calls if (call := _init(each)) is not None]
    return replace(
        entry,
        parameters=_described(entry.parameters, calls, seen.given),
        constructor=_described(entry.constructor, inits, _of("__init__", seen)),
        setup=tuple(_set_up(call, seen) for call in entry.setup),
    )


def _set_up(setup: SetupCall, seen: SeenFunction) -> SetupCall:
    calls = [
        call
        for each in seen.calls
        if (owner := each.run.objects.get(each.call.owner or 0)) is not None
        for call in owner.calls
        if call.function.rpartition(".")[2] == setup.name
    ]
    given = _of(setup.name, seen)
    return replace(setup, parameters=_described(setup.parameters, calls, given))


def _init(each: Enclosing) -> Call | None:
    owner = each.run.objects.get(each.call.owner or 0)
    return owner.init if owner is not None else None


def _of(function: str, seen: SeenFunction) -> Sequence[str]:
    """Return the parameters of a call before the episode whose text the model was asked."""
    prefix = f"{function}."
    return [name.removeprefix(prefix) for name in seen.given if name.startswith(prefix)]


def _described(
    parameters: tuple[Parameter, ...], calls: Sequence[Call], given: Sequence[str]
) -> tuple[Parameter, ...]:
    return tuple(_as_seen(each, calls, given) for each in parameters)


def _as_seen(
    parameter: Parameter, calls: Sequence[Call], given: Sequence[str]
) -> Parameter:
    values = [
        call.given[parameter.name] for call in calls if parameter.name in call.given
    ]
    plain = [value["value"] for value in values if "value" in value]
    if parameter.annotation is None and plain and len(plain) == len(values):
        parameter = replace(parameter, annotation=_type_of(plain))
    if parameter.name not in given or not plain or parameter.is_record:
        return parameter
    return replace(
        parameter,
        default=None,
        is_client=False,
        is_object=False,
        supplied="",
        made=None,
        fields=None,
        stand_in=None,
    )


def _type_of(values: Sequence[Any]) -> str | None:
    """Return the type that all values have but for None; None if they differ."""
    types = {type(value) for value in values if value is not None}
    found = TYPES.get(types.pop()) if len(types) == 1 else None
    return f"{found} | None" if found and None in values else found
