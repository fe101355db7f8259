"""Decides what a scenario holds, and what episode() provides itself."""

from __future__ import annotations

import ast
import keyword
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from art_adapt.recipe.types import ANY, or_none, parsed, plain_type, typed
from art_adapt.survey.inputs.rebuilt import STANDARD
from art_adapt.survey.inputs.supplied import MODEL
from art_adapt.survey.model import EntryPoint, Parameter, Terminal
from art_adapt.words import CONVERSATIONS

PYDANTIC_NAMES = (
    "schema",
    "json",
    "copy",
    "dict",
    "model_config",
    "construct",
    "validate",
)
TEXTS = typed("list[str]")
DICT = typed("dict[str, Any]")
DICTS = typed("list[dict[str, Any]]")


@dataclass(frozen=True)
class Field:
    """A field of the scenario: what a row says for the parameter ``of``.

    ``default`` is that of the parameter, as source text; None: it has to be given.
    """

    name: str
    of: str
    type: ast.expr
    default: str | None = None

    @property
    def shown_default(self) -> str | None:
        """Return the default that the scenario has as well; None: each row says the field."""
        return self.default if _is_simple(_evaluated(self.default)) else None


def _is_simple(value: object) -> bool:
    """True for a number, a truth value, None or a text without escapes."""
    if isinstance(value, str):
        return value.isprintable() and not {"'", '"', "\\"} & set(value)
    return value is None or isinstance(value, int | float)


def scenario_fields(entry: EntryPoint) -> tuple[Field, ...]:
    """Return what differs from episode to episode, as far as JSON can hold it.

    That is what the entry point and its class require, with the required fields of
    dataclasses and pydantic models in their place; where they require nothing, all that
    the entry point takes.
    """
    if entry.is_request:
        messages = Parameter("messages", "list", None)
        return _field(messages), _field(Parameter("tools", "list", "None"))
    typed = () if entry.terminal is None else terminal_fields(entry.terminal)
    own = _required(entry.parameters) or _required(entry.parameters, whole=True)
    others = _required(p for p in entry.needs if p not in entry.parameters)
    if not own and not typed:  # the task is among what it may be given
        own = [
            part
            for parameter in entry.parameters
            if not is_given(parameter) and (not others or parameter.default == "None")
            for part in parts_of(parameter)
        ]
    required = {each.name: each for each in (*others, *own)}
    return (*map(_field, required.values()), *typed)


def _required(
    parameters: Iterable[Parameter], *, whole: bool = False
) -> list[Parameter]:
    """Return the parts of what has to be given, as far as JSON can hold it.

    ``whole``: of an object that requires nothing, all.
    """
    found: list[Parameter] = []
    for parameter in parameters:
        if _has_to_be_given(parameter) and not is_given(parameter):
            parts = [each for each in parts_of(parameter) if not is_given(each)]
            required = [part for part in parts if _has_to_be_given(part)]
            if required and parameter.is_record:
                required = [p for p in parts if p in required or _says_more(p)]
            found += required or (parts if whole else [])
    return found


def _says_more(part: Parameter) -> bool:
    """True if a row may say what a record has a default for: one of some texts.

    Numbers, switches and free texts are mostly the agent's own: limits, folders, prompts.
    """
    is_choice = (part.annotation or "").startswith("Literal[")
    default = _evaluated(part.default)
    return is_choice and isinstance(default, str) and _is_simple(default)


def _has_to_be_given(parameter: Parameter) -> bool:
    """True without a default, or with one that stands for what is on the command line."""
    return parameter.default is None or parameter.command_line or parameter.typed


def parts_of(parameter: Parameter) -> tuple[Parameter, ...]:
    """Return the fields of an object that has to be made; another parameter is one itself."""
    if parameter.stand_in is not None:
        names = [path.rpartition(".")[2] for path in parameter.stand_in]
        return tuple(Parameter(name, "str", None) for name in dict.fromkeys(names))
    if not parameter.is_record:
        return (parameter,)
    return tuple(part for each in parameter.fields or () for part in parts_of(each))


def paths_of(parameter: Parameter) -> Iterator[tuple[str, Parameter]]:
    """Yield the same parts, each with the path that leads to it: ``ticket.text``."""
    if parameter.stand_in is not None:
        for path in parameter.stand_in:
            yield (
                f"{parameter.name}.{path}",
                Parameter(path.rpartition(".")[2], "str", None),
            )
    elif parameter.is_record:
        for each in parameter.fields or ():
            for path, part in paths_of(each):
                yield f"{parameter.name}.{path}", part
    else:
        yield parameter.name, parameter


TYPED = ("arguments", "inputs")  # fields of which a row has what somebody typed


def terminal_fields(terminal: Terminal) -> tuple[Field, ...]:
    """Return what is typed, and what stands on the command line."""
    is_read = zip(TYPED, (terminal.reads_arguments, terminal.asks), strict=True)
    return tuple(Field(name, name, TEXTS) for name, reads in is_read if reads)


def is_given(parameter: Parameter) -> bool:
    """True if episode() itself provides a parameter: a client, a model, an object."""
    if parameter.stand_in is not None:
        return not parameter.stand_in
    if parameter.opened is not None:
        return True
    is_place = parameter.supplied not in ("", MODEL)  # where the model is
    return (
        parameter.is_client
        or parameter.is_object
        or is_place
        or (parameter.supplied == MODEL and parameter.default is None)
    )


def to_fill_in(entry: EntryPoint) -> list[Parameter]:
    """Return the objects that an episode needs and that only the user can make."""
    if entry.program is not None:  # which makes them
        return []
    return [
        parameter
        for parameter in entry.parts
        if parameter.is_object
        and parameter.default is None
        and parameter.made is None
        and parameter.stand_in is None
    ]


def _field(parameter: Parameter) -> Field:
    if parameter.command_line:
        return Field(field_name(parameter.name), parameter.name, TEXTS)
    kind, default = _type(parameter), None if parameter.typed else parameter.default
    return Field(field_name(parameter.name), parameter.name, kind, default)


def _type(parameter: Parameter) -> ast.expr:
    is_chat = parameter.annotation is None and parameter.name in CONVERSATIONS
    if is_chat or parameter.element:
        return DICTS
    if (standard := _standard(parameter)) is not None:
        return standard
    if parameter.members is not None:
        return _of_members(parameter.members, parameter)
    if parameter.validated or parameter.rebuilt.isidentifier():
        return DICT
    default = _evaluated(parameter.default)
    if parameter.annotation is None and type(default) is int:
        return typed("int")
    kind = plain_type(parsed(parameter.annotation))
    return or_none(kind) if parameter.default == "None" else kind  # task: str = None


def _standard(parameter: Parameter) -> ast.expr | None:
    """Return what a row has for a time, say, or for None; None for anything else."""
    made_of = parameter.rebuilt.split(" | ")
    kinds = [STANDARD.get(e.rpartition(".")[2]) for e in made_of if e != "None"]
    if not any(kinds):
        return None
    spelled = kinds[0] if len(kinds) == 1 and kinds[0] is not None else "Any"
    may_miss = len(made_of) > 1 or parameter.default == "None"
    return or_none(typed(spelled)) if may_miss else typed(spelled)


def _of_members(values: Sequence[str], parameter: Parameter) -> ast.expr:
    """Return what a row may have for a member of an enumeration: one of its values.

    Of values that are computed, and of several types, that is anything.
    """
    kinds = {type(_evaluated(value)) for value in values}
    kind: ast.expr = ANY
    if kinds == {str}:
        kind = plain_type(typed(f"Literal[{', '.join(values)}]"))
    elif kinds in ({int}, {float}):
        kind = typed(kinds.pop().__name__)
    may_miss = " | None" in parameter.rebuilt or parameter.default == "None"
    return or_none(kind) if may_miss else kind


def _evaluated(default: str | None) -> object:
    """Return what a literal is; ``...`` for anything else."""
    try:
        return ... if default is None else ast.literal_eval(default)
    except (ValueError, TypeError):
        return ...


def field_name(name: str) -> str:
    """Return a name that pydantic takes as a field, for a parameter's.

    It refuses names that begin with an underscore or hide its own methods.
    """
    name = name.lstrip("_") or "value"
    is_taken = name in PYDANTIC_NAMES or name.startswith("model_")
    return f"{name}_" if keyword.iskeyword(name) or is_taken else name
