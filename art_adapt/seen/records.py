"""Let what was seen say which fields of a record are a scenario's, and which it keeps."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from art_adapt.recipe.fields import is_given
from art_adapt.seen.notes import Call, hides_a_key
from art_adapt.seen.values import (
    is_asked_about,
    is_literal,
    is_set,
    spelled_as_code,
    spelled_of,
    with_none,
)
from art_adapt.seen.written import Words
from art_adapt.source import Place
from art_adapt.survey.model import (
    Construction,
    Parameter,
)
from art_adapt.words import KEY_TYPED

LONGEST = 200  # characters of a value that the train module repeats


def is_told_by_people(
    given: Sequence[Any], calls: Sequence[Call], words: Words
) -> bool:
    """True if texts were typed, or came with a request: no code of the project made the call."""
    served = all(call.site is None for call in calls)
    return bool(calls) and (served or words.typed.issuperset(given))


def is_text_for_default(parameter: Parameter, given: Sequence[Any]) -> bool:
    """True if runs gave texts in place of a default that is a text or None, and no key."""
    if parameter.is_client or parameter.supplied or KEY_TYPED.search(parameter.name):
        return False
    if not is_literal(parameter.default) or not all(isinstance(v, str) for v in given):
        return False
    default = ast.literal_eval(parameter.default or "")
    return isinstance(default, str | None) and any(each != default for each in given)


def fields_as_seen(
    record: Parameter, given: Sequence[Any], calls: Sequence[Call], words: Words
) -> tuple[Parameter, ...]:
    """Describe the fields of a record by the dicts that runs gave for it."""
    fields = record.fields or ()
    is_for_one = any(each.default is None for each in fields)
    held = [each for each in given if isinstance(each, dict)]
    return tuple(
        _field_as_seen(each, held, is_for_one, calls, words) for each in fields
    )


def _field_as_seen(
    field: Parameter,
    records: Sequence[dict[str, Any]],
    is_for_one: bool,
    calls: Sequence[Call],
    words: Words,
) -> Parameter:
    """Describe a field of a record: it is a scenario's if runs gave several values, or a text.

    So is what the model was asked about and the agent's files do not say, and a switch, a number
    or a word that is set otherwise than by default in a record that has to say something: it is
    made for one task (``is_for_one``). A default that is computed, such as an id, differs by itself.
    Of a record within a record, its fields are.
    """
    held = [each for each in records if field.name in each]
    if held and all(hides_a_key(field.name, each[field.name]) for each in held):
        return left_to_episode(field, calls)
    given = [each[field.name] for each in held]
    is_text = is_text_for_default(field, given) and is_told_by_people(
        given, calls, words
    )
    is_asked = any(is_asked_about(each, field.default, words) for each in given)
    differs = (
        len(spelled_of(given)) > 1
        or is_text
        or is_asked
        or (is_for_one and any(is_set(field, each, words) for each in given))
    )
    own = differs and not field.is_record and is_literal(field.default)
    field = replace(field, annotation=with_none(field.annotation, given))
    if not own and len(spelled_of(given)) == 1 and is_set(field, given[0], words):
        return _kept_as_set(field, given[0], calls)
    if not own:
        return field
    inner = field.fields and fields_as_seen(field, given, calls, words)
    return replace(field, default=None, fields=inner)


def _kept_as_set(field: Parameter, value: Any, calls: Sequence[Call]) -> Parameter:
    """Give a record what all runs gave it in place of a default: the agent's own setting."""
    site, text = calls[0].site, spelled_as_code(value)
    if site is None or field.is_record or len(text) > LONGEST:
        return field
    place = Place(site.path, site.line)
    return replace(
        field,
        default=None,
        is_object=True,
        made=Construction(place, text),
        passed=place,
    )


def left_to_episode(parameter: Parameter, calls: Sequence[Call]) -> Parameter:
    """Leave to episode() what is a live object, or holds a key, in every run: no row has it."""
    if not calls or parameter.default is not None or is_given(parameter):
        return parameter
    site = calls[0].site
    passed = None if site is None else Place(site.path, site.line)
    return replace(parameter, is_object=True, passed=passed)
