"""Let what was seen say which parameters are a scenario's, and of which type they are."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from art_adapt.recipe.fields import is_given
from art_adapt.seen.choice import key_of
from art_adapt.seen.decision import Seen
from art_adapt.seen.episodes import Enclosing, SeenFunction
from art_adapt.seen.notes import Call, Site, hides_a_key
from art_adapt.seen.written import Words, words_of
from art_adapt.source import Place
from art_adapt.survey.inputs.supplied import MODEL
from art_adapt.survey.model import (
    Construction,
    EntryPoint,
    Parameter,
    SetupCall,
    Survey,
)
from art_adapt.words import KEY_TYPED

WORD = re.compile(r"[^\W\d][\w.-]*")  # "openai-compatible"
SMALL = re.compile(r"-?\d{1,3}(\.\d{1,3})?")
FEWEST = 3  # digits of a number that the model is not asked about by chance
LONGEST = 200  # characters of a value that the train module repeats
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
    words = words_of(function.text, survey, [each.run for each in function.calls])
    entries = tuple(
        _given(entry, function, words) if key_of(entry) == function.key else entry
        for entry in survey.entry_points
    )
    return replace(survey, entry_points=entries)


def _given(entry: EntryPoint, seen: SeenFunction, words: Words) -> EntryPoint:
    calls = [each.call for each in seen.calls]
    inits = [call for each in seen.calls if (call := _init(each)) is not None]
    told = not {each.name for each in entry.parameters}.isdisjoint(seen.given)
    told |= entry.terminal is not None and entry.terminal.asks
    return replace(
        entry,
        parameters=(
            *(
                _opened(_with_text(each, calls, words), seen, words)
                for each in _described(
                    entry.parameters, calls, seen.given, entry.place, words
                )
            ),
            *(
                _options(entry.parameters, calls, seen.given)
                if entry.terminal is None or not entry.terminal.reads_arguments
                else ()  # a command: its own line has all that it was given
            ),
        ),
        constructor=_described(
            entry.constructor,
            inits,
            [
                each.name
                for each in entry.constructor
                if each.name in _of("__init__", seen)
                and not _is_setting(each, inits, told=told)
            ],
            entry.place,
            words,
        ),
        setup=tuple(_set_up(call, seen, words) for call in entry.setup),
        was_seen=True,
    )


def _is_setting(parameter: Parameter, inits: Sequence[Call], *, told: bool) -> bool:
    """True if the agent gives it to its class, and all objects were made with that value.

    A prompt of the agent's own, say, which the model was asked as well: a default, or, for an
    agent that is ``told`` its task later, a constant of the project, or settings that a call makes.
    """
    values = _values(parameter.name, inits)
    if len(_spelled(values)) != 1:
        return False
    if parameter.default is not None or not told or parameter.made is None:
        return parameter.default is not None
    made = ast.parse(parameter.made.value, mode="eval").body
    if isinstance(made, ast.Constant):
        return bool(made.value == values[0])
    return isinstance(made, ast.Name | ast.Attribute) or not isinstance(values[0], str)


def _with_text(parameter: Parameter, calls: Sequence[Call], words: Words) -> Parameter:
    """Have each row say a text that a person gave in place of a default: ``--backend local``."""
    given = _values(parameter.name, calls)
    is_text = parameter.made is None and _is_text_for_default(parameter, given)
    told = is_text and _is_told_by_people(given, calls, words)
    return replace(parameter, typed=True) if told else parameter


def _is_told_by_people(
    given: Sequence[Any], calls: Sequence[Call], words: Words
) -> bool:
    """True if texts were typed, or came with a request: no code of the project made the call."""
    served = all(call.site is None for call in calls)
    return bool(calls) and (served or words.typed.issuperset(given))


def _is_text_for_default(parameter: Parameter, given: Sequence[Any]) -> bool:
    """True if runs gave texts in place of a default that is a text or None, and no key."""
    if parameter.is_client or parameter.supplied or KEY_TYPED.search(parameter.name):
        return False
    if not _is_literal(parameter.default) or not all(isinstance(v, str) for v in given):
        return False
    default = ast.literal_eval(parameter.default or "")
    return isinstance(default, str | None) and any(each != default for each in given)


def _opened(parameter: Parameter, seen: SeenFunction, words: Words) -> Parameter:
    """Describe what the call is given that returns a parameter, as it was seen."""
    if parameter.opened is None:
        return parameter
    return replace(parameter, opened=_set_up(parameter.opened, seen, words))


def _options(
    parameters: Sequence[Parameter], calls: Sequence[Call], given: Sequence[str]
) -> Iterator[Parameter]:
    """Yield what ``**options`` took of the task, each as a parameter of its own."""
    known = {parameter.name for parameter in parameters}
    for name in given:
        values = _values(name, calls)
        if name not in known and name.isidentifier() and values:
            yield Parameter(name, _type_of(values), None)


def _set_up(setup: SetupCall, seen: SeenFunction, words: Words) -> SetupCall:
    calls = [
        call
        for each in seen.calls
        if (owner := each.run.owner(each.call)) is not None
        for call in owner.calls
        if call.name == setup.name
    ]
    given = _of(setup.name, seen)
    described = _described(setup.parameters, calls, given, setup.place, words)
    return replace(setup, parameters=described)


def _init(each: Enclosing) -> Call | None:
    owner = each.run.owner(each.call)
    return owner.init if owner is not None else None


def _of(function: str, seen: SeenFunction) -> Sequence[str]:
    """Return the parameters of a call before the episode whose text the model was asked."""
    prefix = f"{function}."
    return [name.removeprefix(prefix) for name in seen.given if name.startswith(prefix)]


def _described(
    parameters: tuple[Parameter, ...],
    calls: Sequence[Call],
    given: Sequence[str],
    defined: Place,
    words: Words,
) -> tuple[Parameter, ...]:
    return tuple(_as_seen(each, calls, given, defined, words) for each in parameters)


def _as_seen(
    parameter: Parameter,
    calls: Sequence[Call],
    given: Sequence[str],
    defined: Place,
    words: Words,
) -> Parameter:
    """Describe a parameter: what the model was asked is the scenario's, what stays is not."""
    if parameter.opened is not None:
        return parameter
    if parameter.is_record:
        fields = tuple(
            _field_as_seen(each, parameter.name, calls, words)
            for each in parameter.fields or ()
        )
        return replace(parameter, fields=fields)
    name = parameter.name
    if all(hides_a_key(name, call.given.get(name)) for call in calls):
        return _without_key(parameter, calls)
    values = _values(parameter.name, calls)
    if not values:
        return parameter
    if parameter.annotation is None or _contradicts(parameter.annotation, values):
        parameter = replace(parameter, annotation=_type_of(values))
    if (
        parameter.name in given
        or _is_varied(parameter, values)
        or _is_told(parameter, values, words)
    ):
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
    if parameter.supplied == MODEL and parameter.default is None:
        return _with_own_model(parameter, values, calls[0].site, defined)
    differs = any(len(_spelled(_values(name, calls))) > 1 for name in given)
    is_constant = parameter.default is None and differs and not is_given(parameter)
    is_set = _is_set(parameter, values[0], words)
    if len(_spelled(values)) == 1 and (is_constant or is_set):
        site = next(call.site for call in calls if parameter.name in call.given)
        text = repr(values[0])
        if site is not None and len(text) <= LONGEST:
            place = Place(site.path, site.line)
            made = Construction(place, text)
            return replace(
                parameter, default=None, is_object=True, made=made, passed=place
            )
    return parameter


def _is_set(parameter: Parameter, value: Any, words: Words) -> bool:
    """True if the runs set a switch, a small number or a word otherwise than its default says.

    An option of their command line, say. Other texts and long numbers may be somebody's own, or
    made anew in each run, but a word that the agent's own files compare with, or list, is one
    of its choices: a provider. What the model was asked about is a task.
    """
    own = parameter.made.value if parameter.made is not None else parameter.default
    theirs = (
        parameter.is_client or parameter.supplied or KEY_TYPED.search(parameter.name)
    )
    if theirs or own is None or not _is_literal(own):
        return False
    default = ast.literal_eval(own)
    if value == default:
        return False
    if isinstance(value, bool) or isinstance(default, bool):
        return type(value) is type(default)
    if isinstance(value, str) and isinstance(default, str | None):
        is_choice = WORD.fullmatch(value) is not None and value in words.choices
        return is_choice and not _has(words.asked, value)
    return (
        isinstance(default, int | float)
        and SMALL.fullmatch(repr(value)) is not None
        and not _has(words.asked, repr(value))
    )


def _has(text: str, spelled: str) -> bool:
    """True if a text has a word or a number, and not as a part of a longer one."""
    word = rf"(?<!\w)(?<!\w\.){re.escape(spelled)}(?!\w|\.\w)"
    return re.search(word, text) is not None


def _is_told(parameter: Parameter, values: Sequence[Any], words: Words) -> bool:
    """True if the model was asked about a number that a run gave, and reading has another for it.

    That is ``--budget 90000`` of a command whose default is 110,000.
    """
    made = parameter.made
    own = made.value if made is not None else parameter.default
    value = values[0]
    is_number = isinstance(value, int | float)
    theirs = parameter.is_client or parameter.supplied
    return is_number and not theirs and _is_asked_about(value, own, words)


def _is_varied(parameter: Parameter, values: Sequence[Any]) -> bool:
    """True if runs gave different values for what reading takes for the agent's: a user's id, say.

    It may be too short to tell where the model was asked about it. What a call makes anew in
    each run, such as an id or a time, is no field: it would be one of the whole group.
    """
    made = parameter.made
    own = _is_literal(made.value if made is not None else parameter.default)
    theirs = parameter.is_client or parameter.supplied
    return own and not theirs and len(_spelled(values)) > 1


def _with_own_model(
    parameter: Parameter, values: Sequence[Any], site: Site | None, defined: Place
) -> Parameter:
    """Give the agent the model's name that it was given: agents refuse names they do not know."""
    if len(_spelled(values)) != 1 or not isinstance(values[0], str):
        return parameter
    place = defined if site is None else Place(site.path, site.line)
    made = Construction(place, repr(values[0]))
    return replace(parameter, is_object=True, made=made)


def _field_as_seen(
    field: Parameter, record: str, calls: Sequence[Call], words: Words
) -> Parameter:
    """Describe a field of a record: it is a scenario's if runs gave several values, or a text.

    So is what the model was asked about and the agent's files do not say. A default that is
    computed, such as an id, differs by itself.
    """
    notes = [call.given.get(record, {}) for call in calls]
    parts = [note.get("parts") or note.get("value") for note in notes]
    held = [each for each in parts if isinstance(each, dict) and field.name in each]
    if held and all(hides_a_key(field.name, each[field.name]) for each in held):
        return _without_key(field, calls)
    given = [each[field.name] for each in held]
    is_text = _is_text_for_default(field, given) and _is_told_by_people(
        given, calls, words
    )
    is_asked = any(_is_asked_about(each, field.default, words) for each in given)
    differs = len(_spelled(given)) > 1 or is_text or is_asked
    own = differs and not field.is_record and _is_literal(field.default)
    return replace(field, default=None) if own else field


def _is_asked_about(value: Any, own: str | None, words: Words) -> bool:
    """True if the model was asked about a text or number that reading has another one for.

    ``own``: the literal that reading has. A word of a prompt that the agent's files write out is
    the same for all.
    """
    if not _is_literal(own) or value == ast.literal_eval(own or ""):
        return False
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return False
    spelled = value if isinstance(value, str) else repr(value)
    is_short = not isinstance(value, str) and sum(map(str.isdigit, spelled)) < FEWEST
    return (
        bool(spelled.strip())
        and not is_short
        and _has(words.asked, spelled)
        and not _has(words.written, spelled)
    )


def _without_key(parameter: Parameter, calls: Sequence[Call]) -> Parameter:
    """Leave to episode() what holds a key in every run: no row may have it."""
    if not calls or parameter.default is not None or is_given(parameter):
        return parameter
    site = calls[0].site
    passed = None if site is None else Place(site.path, site.line)
    return replace(parameter, is_object=True, passed=passed)


def _is_literal(default: str | None) -> bool:
    return default is not None and isinstance(
        ast.parse(default, mode="eval").body, ast.Constant
    )


def _values(name: str, calls: Sequence[Call]) -> list[Any]:
    """Return what calls gave for a parameter, if JSON can hold it all."""
    notes = [call.given[name] for call in calls if name in call.given]
    return [n["value"] for n in notes] if all("value" in n for n in notes) else []


def _spelled(values: Sequence[Any]) -> set[str]:
    return {json.dumps(value, sort_keys=True) for value in values}


def _contradicts(annotation: str, values: Sequence[Any]) -> bool:
    """True if a parameter was given what its annotation, a plain type, does not allow."""
    kind = next((kind for kind, name in TYPES.items() if name == annotation), None)
    if kind is None:
        return False
    allowed = (int, float) if kind is float else kind
    return not all(isinstance(value, allowed) for value in values)


def _type_of(values: Sequence[Any]) -> str | None:
    """Return the type that all values have but for None; None if they differ."""
    types = {type(value) for value in values if value is not None}
    found = TYPES.get(types.pop()) if len(types) == 1 else None
    return f"{found} | None" if found and None in values else found
