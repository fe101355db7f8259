"""Decides what a scenario holds, and what episode() provides itself."""

from __future__ import annotations

import keyword
import re
from collections.abc import Iterable

from art_adapt.survey.inputs.supplied import API_KEY, API_VERSION, BASE_URL, MODEL
from art_adapt.survey.model import EntryPoint, Parameter, Terminal
from art_adapt.train_module.types import plain_type

# Arguments that say where the model is: no scenario's business. Recorded calls go to the
# model in training whatever they are.
ENDPOINT = {
    API_KEY: 'endpoint["api_key"]',
    BASE_URL: 'endpoint["base_url"]',
    API_VERSION: '"2024-10-21"',
}
CONVERSATIONS = ("messages", "history", "conversation", "chat_history")
PYDANTIC_NAMES = (
    "schema",
    "json",
    "copy",
    "dict",
    "model_config",
    "construct",
    "validate",
)


def scenario_fields(entry: EntryPoint) -> list[Parameter]:
    """Return what differs from episode to episode, as far as JSON can hold it.

    That is what the entry point and its class require, with the required fields of
    dataclasses and pydantic models in their place; where they require nothing, all that
    the entry point takes.
    """
    if entry.is_request:
        return [Parameter("messages", "list", None), Parameter("tools", "list", "None")]
    typed = [] if entry.terminal is None else terminal_fields(entry.terminal)
    own = _required(entry.parameters) or _required(entry.parameters, whole=True)
    others = _required(p for p in entry.needs if p not in entry.parameters)
    if not own and not typed:  # the task is among what it may be given
        own = [
            field
            for parameter in entry.parameters
            if not is_given(parameter) and (not others or parameter.default == "None")
            for field in fields_of(parameter)
        ]
    fields = (*others, *own, *typed)
    return list({field.name: field for field in fields}.values())


def _required(
    parameters: Iterable[Parameter], *, whole: bool = False
) -> list[Parameter]:
    """Return the fields of what has to be given, as far as JSON can hold it.

    ``whole``: of an object that requires nothing, all.
    """
    found: list[Parameter] = []
    for parameter in parameters:
        if parameter.default is None and not is_given(parameter):
            fields = [each for each in fields_of(parameter) if not is_given(each)]
            required = [field for field in fields if field.default is None]
            found += required or (fields if whole else [])
    return found


def fields_of(parameter: Parameter) -> tuple[Parameter, ...]:
    """Return the fields of an object that has to be made; another parameter is one itself."""
    if parameter.stand_in is not None:
        names = [path.rpartition(".")[2] for path in parameter.stand_in]
        return tuple(Parameter(name, "str", None) for name in dict.fromkeys(names))
    if not parameter.is_record:
        return (parameter,)
    return tuple(f for field in parameter.fields or () for f in fields_of(field))


def terminal_fields(terminal: Terminal) -> list[Parameter]:
    """Return what is typed, and what stands on the command line."""
    names = [("arguments", terminal.reads_arguments), ("inputs", terminal.asks)]
    return [Parameter(name, "list[str]", None) for name, is_read in names if is_read]


def is_given(parameter: Parameter) -> bool:
    """True if episode() itself provides a parameter: a client, a model, an object."""
    if parameter.stand_in is not None:
        return not parameter.stand_in
    return (
        parameter.is_client
        or parameter.is_object
        or parameter.supplied in ENDPOINT
        or (parameter.supplied == MODEL and parameter.default is None)
    )


def to_fill_in(entry: EntryPoint) -> list[Parameter]:
    """Return the objects that an episode needs and that only the user can make."""
    return [
        parameter
        for parameter in entry.parts
        if parameter.is_object
        and parameter.default is None
        and parameter.made is None
        and parameter.stand_in is None
    ]


def field_type(parameter: Parameter) -> str:
    if parameter.annotation is None and parameter.name in CONVERSATIONS:
        return "list[dict[str, Any]]"
    if (
        parameter.annotation is None
        and parameter.default is not None
        and re.fullmatch(r"-?\d+", parameter.default)
    ):
        return "int"
    kind = plain_type(parameter.annotation)
    may_be_none = kind == "Any" or re.search(r"\bNone\b", kind) is not None
    optional = parameter.default == "None" and not may_be_none
    return f"{kind} | None" if optional else kind  # task: str = None


def field_name(parameter: Parameter) -> str:
    """Return a name that pydantic takes as a field.

    It refuses names that begin with an underscore or hide its own methods.
    """
    name = parameter.name.lstrip("_") or "value"
    is_taken = name in PYDANTIC_NAMES or name.startswith("model_")
    return f"{name}_" if keyword.iskeyword(name) or is_taken else name
