"""Turn what was seen of episodes into the notes that rows are made of."""

from __future__ import annotations

import ast
import json
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from art_adapt.capture.run import FieldSource
from art_adapt.conversation_signs import text_of
from art_adapt.secret_texts import HIDDEN
from art_adapt.seen.conversations import TELLING
from art_adapt.seen.episodes import MOST_BEFORE, said_in
from art_adapt.seen.notes import Call, FunctionKey, Run

OF_A_REQUEST = "is no argument of the function: it may come with a web request"


def make_folder(file: Path) -> None:
    """Make the folder of the notes: only its owner reads it, and git never sees it.

    Raises:
        OSError: it cannot be made.
    """
    file.parent.mkdir(mode=0o700, exist_ok=True)
    ignored = file.parent / ".gitignore"
    if not ignored.exists():
        ignored.write_text("*\n", encoding="utf-8")


def notes_of(
    runs: Sequence[Run], key: FunctionKey, fields: Sequence[FieldSource]
) -> Iterator[dict[str, Any]]:
    """Yield a note for each call of the function that runs an episode, as a listener's."""
    for run in runs:
        first: dict[int, int] = {}
        for at, request in enumerate(run.requests):
            for call in run.outward(request.around):
                first.setdefault(call.number, at)
        for call in run.calls.values():
            is_asking = call.key == key and call.number in first
            if is_asking and not run.is_of_itself(call):
                yield {
                    "began": call.began,
                    "seconds": call.seconds,
                    "outcome": call.outcome or "not ended",
                    "answer": call.returned.get("value"),
                    "fields": {f.name: _kept(_value(run, call, f)) for f in fields},
                    "goes_on": goes_on(run, call, first[call.number]),
                    "is_said": _is_said(run, call, first[call.number]),
                }


def goes_on(run: Run, call: Call, at: int) -> bool:
    """True if a call's first request repeats what the model said before, and the call was not given.

    Its episode needs an earlier one, which a new agent has not had.
    """
    told = "\n".join(text_of(each) for each in run.requests[at].messages)
    given = json.dumps([note.get("value") for note in call.given.values()])
    return any(
        len(said) >= TELLING and said in told and json.dumps(said)[1:-1] not in given
        for earlier in run.requests[max(0, at - MOST_BEFORE) : at]
        for said in said_in(earlier.message)
    )


def _is_said(run: Run, call: Call, at: int) -> bool:
    """True if a call was given what the model had said before, as it was or as an object of it."""
    given = [note.get("value") for note in call.given.values()]
    replies = [said for each in run.requests[:at] for said in said_in(each.message)]
    return any(
        (isinstance(value, str) and said in value) or _literal(said) == value
        for said in replies
        if len(said) >= TELLING
        for value in given
    )


def _literal(text: str) -> Any:
    """Return what a text spells in JSON or Python; the text itself where that is nothing."""
    for read in (json.loads, ast.literal_eval):
        with suppress(ValueError, SyntaxError, RecursionError):
            return read(text)
    return text


def _kept(noted: dict[str, Any]) -> dict[str, Any]:
    """Return a value, unless a whole text of it was a secret; ``cut``: a part of one was."""
    if _hides_a_text(noted):
        return {"not_json": HIDDEN}
    return {**noted, "cut": True} if HIDDEN in json.dumps(noted) else noted


def _hides_a_text(noted: Any) -> bool:
    if isinstance(noted, dict | list):
        within = noted.values() if isinstance(noted, dict) else noted
        return any(map(_hides_a_text, within))
    return bool(noted == HIDDEN)


def _value(run: Run, call: Call, field: FieldSource) -> dict[str, Any]:
    if field.of == "arguments":
        return {"value": list(run.command[1:])}
    if field.of == "inputs":
        return {"value": list(run.typed_in(call))}
    given = call.given if field.of == "function" else _before(run, call, field)
    noted = given.get(field.parameter)
    if noted is None and field.of == "function":
        return {"not_json": OF_A_REQUEST}
    noted = noted or {}
    made = run.objects.get(noted.get("object", 0))
    path = field.path
    if path and made is not None and made.init is not None:
        # What an object was made with says more than the attributes that it has.
        within = made.init.given.get(path[0])
        if within is not None and len(path) == 1:
            return within
        noted, path = (noted, path) if within is None else (within, path[1:])
    held = noted.get("parts") or noted.get("value") if path else noted.get("value")
    is_plain = "value" in noted and "not_json" not in noted
    is_known = isinstance(held, dict) or (is_plain and held is not None)
    if is_known if path else is_plain:
        with suppress(KeyError):
            return {"value": _within(held, path), "turned": noted.get("turned", [])}
    return {"not_json": noted.get("not_json", "value of an object made elsewhere")}


def _within(held: Any, path: Sequence[str]) -> Any:
    """Return a part of what is noted of an object; a member of an enumeration is its value.

    Raises:
        KeyError: it has no such part.
    """
    for part in path:
        if not isinstance(held, dict):
            break
        held = held[part]
    return held


def _before(run: Run, call: Call, field: FieldSource) -> dict[str, Any]:
    """Return what the episode's object was made with, or a call that set it up was given."""
    owner = run.owner(call)
    if owner is None:
        return {}
    if field.of == "constructor":
        return owner.init.given if owner.init is not None else {}
    named = [c for c in owner.calls if c.name == field.method]
    if field.opens:
        key = call.given.get(field.opens)
        named = [c for c in named if key is not None and c.returned == key]
    # Those before the first episode have no time; of later ones, the last counts.
    since = [c for c in named if 0 < c.began <= call.began]
    return next((each.given for each in (*reversed(since), *named)), {})
