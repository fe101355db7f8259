"""Let what was seen say which parameters are a scenario's, and of which type they are."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from art_adapt.code.importable import ImportedName
from art_adapt.recipe.fields import is_given, scenario_fields
from art_adapt.seen.choice import with_entry
from art_adapt.seen.decision import Seen
from art_adapt.seen.episodes import Enclosing, SeenFunction
from art_adapt.seen.notes import Call, hides_a_key
from art_adapt.seen.records import (
    LONGEST,
    fields_as_seen,
    is_text_for_default,
    is_told_by_people,
    left_to_episode,
)
from art_adapt.seen.switches import with_switches
from art_adapt.seen.terminals import as_typed, is_all_heard
from art_adapt.seen.values import (
    contradicts,
    has_class,
    holds_more,
    is_choice,
    is_literal,
    is_live_object,
    is_namespace,
    is_otherwise,
    is_set,
    is_told,
    is_varied,
    own_of,
    spelled_as_code,
    spelled_of,
    type_of,
    values_of,
    with_none,
)
from art_adapt.seen.written import Words, words_of
from art_adapt.source import Place
from art_adapt.survey.inputs.rebuilt import NAMESPACE
from art_adapt.survey.inputs.supplied import MODEL
from art_adapt.survey.model import (
    Construction,
    EntryPoint,
    Parameter,
    SetupCall,
    Survey,
)


def with_given(survey: Survey, seen: Seen | None) -> Survey:
    """Describe the function that was seen by what it was given: the task is a scenario's."""
    function = None if seen is None else seen.function
    if function is None:
        return survey
    words = words_of(function.text, survey, [each.run for each in function.calls])
    is_heard = is_all_heard(survey, function)
    return with_entry(
        survey, function.key, lambda entry: _given(entry, function, words, is_heard)
    )


def _given(
    entry: EntryPoint, seen: SeenFunction, words: Words, is_heard: bool
) -> EntryPoint:
    """Describe an entry point; ``is_heard``: whatever a person types the runs would have noted."""
    if is_heard:
        entry = replace(entry, terminal=as_typed(entry, seen))
    calls = [each.call for each in seen.calls]
    inits = [call for each in seen.calls if (call := _init(each)) is not None]
    told = not {each.name for each in entry.parameters}.isdisjoint(seen.given)
    told |= entry.terminal is not None and entry.terminal.asks
    differs = _differ(seen, calls, inits)
    found = replace(
        entry,
        parameters=(
            *(
                _opened(_with_text(each, calls, words), seen, words, differs)
                for each in _described(
                    entry.parameters,
                    calls,
                    _beside_settings(entry.parameters, calls, seen.given),
                    entry.place,
                    words,
                    differs,
                )
            ),
            *(
                _options(entry.parameters, calls, seen.given, words)
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
            differs,
        ),
        setup=tuple(_set_up(call, seen, words, differs) for call in entry.setup),
        instance=_instance(entry, seen, words),
        was_seen=True,
    )
    if entry.terminal is not None or scenario_fields(found):
        return found
    if left := [each.name for each in entry.constructor if _is_left(each, inits)]:
        own = _described(entry.constructor, inits, left, entry.place, words, differs)
        return replace(found, constructor=own)
    # Of one run nobody can tell what the next gives: what reading has for a field stays one.
    return replace(found, parameters=entry.parameters)


def _instance(entry: EntryPoint, seen: SeenFunction, words: Words) -> Parameter | None:
    """Describe what the factory was given that made the agent: what the model was not asked stays."""
    made = entry.instance
    if made is None or made.made is None or not made.fields:
        return made
    name = made.made.value.rpartition(".")[2]
    calls = [
        call
        for each in seen.calls
        if (owner := each.run.owner(each.call)) is not None
        for call in owner.returned
        if call.name == name
    ]
    given = _of(name, seen)
    fields = _described(made.fields, calls, given, made.made.place, words, True)
    folders = {each.run.folder for each in seen.calls}
    folder = folders.pop() if len(folders) == 1 else None
    return replace(made, fields=tuple(_from_folder(each, folder) for each in fields))


def _from_folder(field: Parameter, folder: Path | None) -> Parameter:
    """Spell a path as it is from the folder in which the run, and training, begin."""
    made = field.made
    if made is None or folder is None or not is_literal(made.value):
        return field
    path = ast.literal_eval(made.value)
    if not isinstance(path, str) or not Path(path).is_relative_to(folder):
        return field
    text = repr(Path(path).relative_to(folder).as_posix())
    if field.annotation in ("Path", "pathlib.Path"):
        imported = ImportedName("pathlib", "Path")
        return replace(
            field, made=replace(made, value=f"Path({text})", imports=(imported,))
        )
    return replace(field, made=replace(made, value=text))


def _is_left(parameter: Parameter, inits: Sequence[Call]) -> bool:
    """True if an object gets None but for what a run gave it: ``--secret 1,2``."""
    values, made = values_of(parameter.name, inits), parameter.made
    if not values or None in values:
        return False
    if made is None:
        return parameter.default == "None"
    bound = [each.text for each in made.statements if made.value in each.binds]
    last = ast.parse((bound or [made.value])[-1]).body[-1]
    value = getattr(last, "value", None)
    return isinstance(value, ast.Constant) and value.value is None


def _differ(seen: SeenFunction, calls: Sequence[Call], inits: Sequence[Call]) -> bool:
    """True if the episodes were given several tasks, by their function or their object."""
    own = [name for name in seen.given if "." not in name]
    return any(
        _vary(names, given)
        for names, given in ((own, calls), (_of("__init__", seen), inits))
    )


def _vary(names: Iterable[str], calls: Sequence[Call]) -> bool:
    """True if calls were given several values for one of their parameters."""
    return any(len(spelled_of(values_of(name, calls))) > 1 for name in names)


def _beside_settings(
    parameters: Sequence[Parameter], calls: Sequence[Call], given: Sequence[str]
) -> list[str]:
    """Return what the model was asked of what calls gave, but for constants of the project.

    A prompt that all calls give beside the task is the agent's, as reading says.
    """
    constant = {
        each.name
        for each in parameters
        if each.made is not None
        and each.made.value.isidentifier()
        and _is_setting(each, calls, told=True)
    }
    told = [name for name in given if name not in constant]
    return told or [*given]


def _is_setting(parameter: Parameter, inits: Sequence[Call], *, told: bool) -> bool:
    """True if the agent gives it to its class, and all objects were made with that value.

    A prompt of the agent's own, say, which the model was asked as well: a default, or, for an
    agent that is ``told`` its task later, a constant of the project, or settings that a call makes.
    """
    values = values_of(parameter.name, inits)
    if len(spelled_of(values)) != 1:
        return False
    if parameter.default is not None or not told or parameter.made is None:
        return parameter.default is not None
    made = ast.parse(parameter.made.value, mode="eval").body
    if isinstance(made, ast.Constant):
        return bool(made.value == values[0])
    return isinstance(made, ast.Name | ast.Attribute) or not isinstance(values[0], str)


def _with_text(parameter: Parameter, calls: Sequence[Call], words: Words) -> Parameter:
    """Have each row say a text that a person gave in place of a default: ``--backend local``."""
    given = values_of(parameter.name, calls)
    is_text = parameter.made is None and is_text_for_default(parameter, given)
    told = is_text and is_told_by_people(given, calls, words)
    return replace(parameter, typed=True) if told else parameter


def _opened(
    parameter: Parameter, seen: SeenFunction, words: Words, differs: bool
) -> Parameter:
    """Describe what the call is given that returns a parameter, as it was seen."""
    if parameter.opened is None:
        return parameter
    return replace(parameter, opened=_set_up(parameter.opened, seen, words, differs))


def _options(
    parameters: Sequence[Parameter],
    calls: Sequence[Call],
    given: Sequence[str],
    words: Words,
) -> Iterator[Parameter]:
    """Yield what ``**options`` took, each as a parameter of its own: the task, and what stays."""
    known = {parameter.name for parameter in parameters}
    taken = dict.fromkeys([*given, *(name for call in calls for name in call.given)])
    for name in taken:
        values = values_of(name, calls)
        if name in known or not name.isidentifier() or not values:
            continue
        if name in given:
            yield Parameter(name, type_of(values), None)
        elif len(spelled_of(values)) == 1 and is_choice(values[0], words):
            site = next(call.site for call in calls if name in call.given)
            if site is not None:
                place = Place(site.path, site.line)
                made = Construction(place, spelled_as_code(values[0]))
                yield Parameter(
                    name, None, None, is_object=True, made=made, passed=place
                )


def _set_up(
    setup: SetupCall, seen: SeenFunction, words: Words, differs: bool
) -> SetupCall:
    calls = [
        call
        for each in seen.calls
        if (owner := each.run.owner(each.call)) is not None
        for call in owner.calls
        if call.name == setup.name
    ]
    given = _of(setup.name, seen)
    differs |= _vary(given, calls)
    described = _described(setup.parameters, calls, given, setup.place, words, differs)
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
    differs: bool,
) -> tuple[Parameter, ...]:
    return tuple(
        _as_seen(each, calls, given, defined, words, differs) for each in parameters
    )


def _as_seen(
    parameter: Parameter,
    calls: Sequence[Call],
    given: Sequence[str],
    defined: Place,
    words: Words,
    differs: bool,
) -> Parameter:
    """Describe a parameter: what the model was asked is the scenario's, what stays is not.

    ``differs``: the episodes had several tasks, so that what is the same in all stays.
    """
    if parameter.opened is not None:
        return parameter
    parameter = with_switches(parameter, calls)
    if parameter.is_record and holds_more(parameter, calls, words):
        return replace(parameter, fields=None)  # a row has all of it
    if parameter.is_record:
        notes = [call.given.get(parameter.name, {}) for call in calls]
        held = [note.get("parts") or note.get("value") for note in notes]
        return replace(parameter, fields=fields_as_seen(parameter, held, calls, words))
    name = parameter.name
    if all(hides_a_key(name, call.given.get(name)) for call in calls):
        return left_to_episode(parameter, calls)
    is_of_unnamed_class = parameter.annotation is None and has_class(name, calls)
    if is_live_object(name, calls) or is_of_unnamed_class:
        return left_to_episode(parameter, calls)
    values = values_of(parameter.name, calls)
    if not values:
        return parameter
    if parameter.annotation is None or contradicts(parameter.annotation, values):
        parameter = replace(parameter, annotation=type_of(values))
    parameter = replace(parameter, annotation=with_none(parameter.annotation, values))
    # What several tasks had in common is a setting, whoever was told it; but a row says a text
    # that the agent's own files do not: a test may have made it up.
    is_shared = (
        differs
        and len(values) > 1
        and len(spelled_of(values)) == 1
        and is_literal(own_of(parameter))
        and len(spelled_as_code(values[0])) <= LONGEST
        and (not isinstance(values[0], str) or is_choice(values[0], words))
    )
    if not is_shared and (
        parameter.name in given
        or is_varied(parameter, values)
        or is_told(parameter, values, words)
    ):
        return _said_by_row(parameter, calls)
    if parameter.supplied == MODEL and parameter.default is None:
        return _with_own_model(parameter, values, calls, defined)
    is_constant = parameter.default is None and differs and not is_given(parameter)
    stays = (
        is_otherwise(parameter, values[0])
        if is_shared
        else is_set(parameter, values[0], words)
    )
    if len(spelled_of(values)) == 1 and (is_constant or stays):
        if has_class(parameter.name, calls):  # no literal is one
            return _said_by_row(parameter, calls)
        text = spelled_as_code(values[0])
        if len(text) <= LONGEST:
            return _made_as(parameter, text, calls, defined)
    return parameter


def _said_by_row(parameter: Parameter, calls: Sequence[Call]) -> Parameter:
    """Make a parameter a scenario's field, whatever reading gives it."""
    is_parsed = is_namespace(parameter.name, calls)
    return replace(
        parameter,
        default=None,
        is_client=False,
        is_object=False,
        supplied="",
        made=None,
        fields=None,
        stand_in=None,
        rebuilt=NAMESPACE if is_parsed else parameter.rebuilt,
    )


def _with_own_model(
    parameter: Parameter, values: Sequence[Any], calls: Sequence[Call], defined: Place
) -> Parameter:
    """Give the agent the model's name that it was given: agents refuse names they do not know."""
    if len(spelled_of(values)) != 1 or not isinstance(values[0], str):
        return parameter
    return _made_as(parameter, repr(values[0]), calls, defined)


def _made_as(
    parameter: Parameter, code: str, calls: Sequence[Call], defined: Place
) -> Parameter:
    """Have episode() give what the runs gave, where the project gives it: on no line for ``-c``."""
    given = (call for call in calls if parameter.name in call.given)
    site = next((call.site for call in given), None)
    place = defined if site is None else Place(site.path, site.line)
    made = Construction(place, code)
    return replace(parameter, default=None, is_object=True, made=made, passed=place)
