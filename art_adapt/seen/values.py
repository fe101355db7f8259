"""Tell what the values that runs gave say of a parameter: a task, a setting, or nothing."""

from __future__ import annotations

import ast
import json
import math
import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import Any

from art_adapt.code.command_line import environment_default
from art_adapt.code.nodes import last_name
from art_adapt.recipe.types import parsed
from art_adapt.seen.notes import Call
from art_adapt.seen.written import Words
from art_adapt.survey.inputs.rebuilt import NAMESPACE
from art_adapt.survey.inputs.run_state import DIFFERS
from art_adapt.survey.model import Construction, Parameter
from art_adapt.words import KEY_TYPED

WORD = re.compile(r"[^\W\d][\w.-]*")  # "openai-compatible"
SMALL = re.compile(r"-?\d{1,3}(\.\d{1,3})?")
NUMBER = re.compile(r"(?<![\w.])\d{1,3}(?:,\d{3})+(?:\.\d+)?|(?<![\w.])\d+(?:\.\d+)?")
FEWEST = 3  # characters of a number that the model is not asked about by chance
TYPES = {
    str: "str",
    bool: "bool",
    int: "int",
    float: "float",
    list: "list",
    dict: "dict",
}
TYPES_NAMED = {name: kind for kind, name in TYPES.items()}
KINDS = {kind.__name__: kind for kind in (str, int, float)}


def is_set(parameter: Parameter, value: Any, words: Words) -> bool:
    """True if the runs set a switch, a small number or a word otherwise than its default says.

    An option of their command line, say. Other texts and long numbers may be somebody's own, or
    made anew in each run, but a word that the agent's own files compare with, or list, is one
    of its choices: a provider. What the model was asked about is a task. What reading computes, for
    a call that may not have run, gives way as well.
    """
    own = own_of(parameter)
    if own is None:
        return False
    if not is_literal(own):
        made = parameter.made
        return made is not None and not _differs(made) and is_choice(value, words)
    default = ast.literal_eval(own)
    if value == default:
        return False
    if isinstance(value, bool) or isinstance(default, bool):
        return type(value) is type(default)
    alike = str if isinstance(value, str) else int | float
    return isinstance(default, alike | None) and is_choice(value, words)


def own_of(parameter: Parameter) -> str | None:
    """Return what reading has for a parameter; None: nothing, or an endpoint, a model or a key."""
    theirs = (
        parameter.is_client or parameter.supplied or KEY_TYPED.search(parameter.name)
    )
    own = parameter.made.value if parameter.made is not None else parameter.default
    return None if theirs or own is None else _usual(own)


def _usual(code: str) -> str:
    """Return the literal that ``int(os.environ.get("LIMIT", 300))`` is where nothing is set."""
    read = ast.parse(code, mode="eval").body
    kind: Any = None
    match read:
        case ast.Call(func=ast.Name(id=name), args=[inner]) if name in KINDS:
            kind, read = KINDS[name], inner
    usual = environment_default(read)
    if not isinstance(usual, ast.Constant):
        return code
    with suppress(ValueError, TypeError):
        return repr(usual.value if kind is None else kind(usual.value))
    return code


def is_otherwise(parameter: Parameter, value: Any) -> bool:
    """True if runs gave another value than the literal that reading has."""
    own = own_of(parameter)
    return is_literal(own) and bool(value != ast.literal_eval(own or ""))


def _differs(made: Construction) -> bool:
    """True if a value is made anew by chance or by the clock: a seed."""
    code = "\n".join((*(each.text for each in made.statements), made.value))
    imported = {name.module.partition(".")[0] for name in made.imports}
    named = {n.id for n in ast.walk(ast.parse(code)) if isinstance(n, ast.Name)}
    return not (named | imported).isdisjoint(DIFFERS)


def is_choice(value: Any, words: Words) -> bool:
    """True if a value is a switch, a small number or a word that the agent's own files list.

    The model was not asked about such a number or word.
    """
    if isinstance(value, bool):
        return True
    if isinstance(value, str):
        is_listed = WORD.fullmatch(value) is not None and value in words.choices
        return is_listed and not _has(words.asked, value)
    spelled = repr(value)
    # A number that the agent's own prompt writes out may be in it by chance.
    asked = _has(words.asked, spelled) and not _has(words.written, spelled)
    return SMALL.fullmatch(spelled) is not None and not asked


def _has(text: str, spelled: str) -> bool:
    """True if a text has a word or a number, and not as a part of a longer one."""
    word = rf"(?<!\w)(?<!\w\.){re.escape(spelled)}(?!\w|\.\w)"
    return re.search(word, text) is not None


def _is_in_digits(text: str, spelled: str) -> bool:
    """True if a text has a number of several digits, however it is formatted: ``$90,000.00``."""
    try:
        value = float(spelled)
    except ValueError:
        return False
    if sum(map(str.isdigit, spelled)) < FEWEST:
        return False
    numbers = (each.replace(",", "") for each in NUMBER.findall(text))
    return any(float(each) == value for each in numbers)


def is_told(parameter: Parameter, values: Sequence[Any], words: Words) -> bool:
    """True if the model was asked about a number that a run gave, and reading has another for it.

    That is ``--budget 90000`` of a command whose default is 110,000.
    """
    value, own = values[0], own_of(parameter)
    return isinstance(value, int | float) and is_asked_about(value, own, words)


def is_varied(parameter: Parameter, values: Sequence[Any]) -> bool:
    """True if runs gave different values for what reading takes for the agent's: a user's id, say.

    It may be too short to tell where the model was asked about it. What a call makes anew in
    each run, such as an id or a time, is no field: it would be one of the whole group.
    """
    return is_literal(own_of(parameter)) and len(spelled_of(values)) > 1


def is_asked_about(value: Any, own: str | None, words: Words) -> bool:
    """True if the model was asked about a text or number that reading has another one for.

    ``own``: the literal that reading has. A word of a prompt that the agent's files write out is
    the same for all.
    """
    if not is_literal(own) or value == ast.literal_eval(own or ""):
        return False
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return False
    spelled = value if isinstance(value, str) else repr(value)
    is_short = not isinstance(value, str) and len(spelled.lstrip("-")) < FEWEST
    is_said = _has(words.asked, spelled) or _is_in_digits(words.asked, spelled)
    return (
        bool(spelled.strip())
        and not is_short
        and is_said
        and not _has(words.written, spelled)
    )


def holds_more(parameter: Parameter, calls: Sequence[Call], words: Words) -> bool:
    """True if the model was asked about what a run's pydantic object held below its own fields.

    No field of a scenario could say that: a record in it has a default of its own.
    """
    notes = [call.given.get(parameter.name, {}).get("value") for call in calls]
    return bool(parameter.validated) and any(
        is_asked_about(leaf, "None", words)
        for note in notes
        if isinstance(note, dict)
        for held in note.values()
        if isinstance(held, dict | list)
        for leaf in _leaves(held)
    )


def _leaves(value: Any) -> Iterator[Any]:
    """Yield the texts, numbers and switches in what JSON holds."""
    if isinstance(value, dict | list):
        for each in value.values() if isinstance(value, dict) else value:
            yield from _leaves(each)
    else:
        yield value


def is_literal(default: str | None) -> bool:
    return default is not None and isinstance(
        ast.parse(default, mode="eval").body, ast.Constant
    )


def values_of(name: str, calls: Sequence[Call]) -> list[Any]:
    """Return what calls gave for a parameter, if JSON can hold it all."""
    notes = [call.given[name] for call in calls if name in call.given]
    return [n["value"] for n in notes] if all("value" in n for n in notes) else []


def is_live_object(name: str, calls: Sequence[Call]) -> bool:
    """True if each run gave an object that no row can hold: a class is noted in its place."""
    notes = [call.given[name] for call in calls if name in call.given]
    return bool(notes) and all(
        str(note.get("not_json", "")).isidentifier() and "value" not in note
        for note in notes
    )


def has_class(name: str, calls: Sequence[Call]) -> bool:
    """True if JSON holds what runs gave, but as something else: a text for a date."""
    notes = [call.given.get(name, {}) for call in calls]
    return any("class" in note and "value" in note for note in notes)


def is_namespace(name: str, calls: Sequence[Call]) -> bool:
    """True if runs gave the options of a command line as they were parsed."""
    notes = [call.given[name] for call in calls if name in call.given]
    return bool(notes) and all(n.get("type") == f"argparse:{NAMESPACE}" for n in notes)


def spelled_as_code(value: Any) -> str:
    """Return a value that JSON can hold as Python spells it: ``float("inf")``."""
    match value:
        case list():
            return f"[{', '.join(map(spelled_as_code, value))}]"
        case dict():
            pairs = (f"{key!r}: {spelled_as_code(each)}" for key, each in value.items())
            return f"{{{', '.join(pairs)}}}"
        case float() if not math.isfinite(value):
            return f'float("{value}")'
    return repr(value)


def spelled_of(values: Sequence[Any]) -> set[str]:
    return {json.dumps(value, sort_keys=True) for value in values}


def contradicts(annotation: str, values: Sequence[Any]) -> bool:
    """True if a parameter was given what its annotation, of plain types, does not allow."""
    node = parsed(annotation)
    return node is not None and not all(_allows(node, value) for value in values)


def _allows(node: ast.expr, value: Any) -> bool:
    """True if a value may have an annotation; of what it names besides plain types, any."""
    if isinstance(node, ast.BinOp):  # dict[str, str] | None
        return any(_allows(each, value) for each in (node.left, node.right))
    if isinstance(node, ast.Constant):
        return value is None
    if isinstance(node, ast.Subscript):
        *_, held = (
            node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        )
        name = last_name(node.value).lower()
        if name not in ("dict", "list") or value is None:  # see with_none
            return True
        inner = value.values() if isinstance(value, dict) else value
        is_one = isinstance(value, TYPES_NAMED[name])
        return is_one and all(_allows(held, each) for each in inner)
    kind = TYPES_NAMED.get(node.id) if isinstance(node, ast.Name) else None
    if kind is None:
        return True
    return isinstance(value, (int, float) if kind is float else kind)


def with_none(annotation: str | None, values: Sequence[Any]) -> str | None:
    """Return an annotation that allows None, if runs gave it: not all code keeps to its own."""
    if annotation is None or None not in values:
        return annotation
    allows = any(name in annotation for name in ("None", "Optional", "Any", "object"))
    return annotation if allows else f"{annotation} | None"


def type_of(values: Sequence[Any]) -> str | None:
    """Return the type that all values have but for None; None if they differ."""
    types = {type(value) for value in values if value is not None}
    found = TYPES.get(types.pop()) if len(types) == 1 else None
    return f"{found} | None" if found and None in values else found
