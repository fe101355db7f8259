"""Makes rows of scenarios from the entries of a log."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from art_adapt.logs.entry import Entry, Json, Request
from art_adapt.logs.formats import chat
from art_adapt.secret_texts import secrets_in
from art_adapt.words import INSTRUCT

LOGGED = "logged"  # the key of a row with when it was, and what came of it
MESSAGES = "messages"
BEGINNING = 60  # characters of a prompt


@dataclass(frozen=True)
class Kind:
    """Requests that are alike: one agent's turns, or its calls beside them.

    Attributes:
        prompt: the beginning of the first system message, which may hold a date further on;
            empty where there is none.
        tools: names of what was offered.
    """

    prompt: str
    tools: tuple[str, ...]


@dataclass
class LoggedRows:
    """The rows made of a log, and what was left out.

    Attributes:
        rows: new ones.
        known: episodes or requests that start as an earlier one does.
        kinds: how many requests there are of each.
        taken: kinds whose requests became rows.
        secrets: by field, what looks like one, cut off.
        from_arguments: rows whose fields are arguments that the log has kept.
        from_messages: rows whose field is the user's first message.
    """

    rows: list[Json] = field(default_factory=list)
    known: int = 0
    kinds: dict[Kind, int] = field(default_factory=dict)
    taken: frozenset[Kind] = frozenset()
    secrets: dict[str, list[str]] = field(default_factory=dict)
    from_arguments: int = 0
    from_messages: int = 0


def kinds_of(entries: Iterable[Entry]) -> dict[Kind, int]:
    """Count the requests of each kind, the most frequent first."""
    found = Counter(_kind(e.request) for e in entries if e.request is not None)
    return dict(found.most_common())


def taken_kinds(kinds: Collection[Kind], only: str | None) -> frozenset[Kind]:
    """Choose the kinds that are the agent's own turns.

    ``only``: those whose prompt or tools hold this text. Otherwise the most frequent one
    that offers tools; where none does, the most frequent one.
    """
    if only is not None:
        return frozenset(
            k for k in kinds if any(only in text for text in (k.prompt, *k.tools))
        )
    with_tools = [kind for kind in kinds if kind.tools]
    return frozenset([*with_tools, *kinds][:1])


def request_rows(
    entries: Sequence[Entry],
    earlier: Iterable[Json],
    only: str | None = None,
    allowed: Collection[str] = (),
) -> LoggedRows:
    """Return a row for each request, as ``RecordedRequest`` takes them."""
    made = _made(entries, only)
    asked = (
        (e, e.request) for e in entries if e.request and _kind(e.request) in made.taken
    )
    rows = (_request_row(entry, request) for entry, request in asked)
    return _kept(made, rows, (MESSAGES, "tools"), earlier, allowed)


def requests_in(
    conversations: Iterable[Json], earlier: Iterable[Json], allowed: Collection[str]
) -> LoggedRows:
    """Return a row for the last request of each captured conversation that is the agent's own."""
    entries = [found for each in conversations if (found := chat.read(each))]
    return request_rows(entries, earlier, None, (MESSAGES, *allowed))


def episode_rows(
    entries: Sequence[Entry],
    fields: Sequence[str],
    text_field: str | None,
    earlier: Iterable[Json],
    only: str | None = None,
    allowed: Collection[str] = (),
) -> LoggedRows:
    """Return a row for each episode.

    Its fields are the arguments of a traced function that has all of them; where a log has
    none of these, ``text_field`` is the first thing that the user has said.

    Args:
        fields: that a row must have.
        text_field: the field that takes a text; None where messages cannot tell it.
    """
    made = _made(entries, only)
    rows = _episode_rows(made, entries, fields, text_field)
    return _kept(made, rows, fields, earlier, allowed)


def _made(entries: Sequence[Entry], only: str | None) -> LoggedRows:
    kinds = kinds_of(entries)
    return LoggedRows(kinds=kinds, taken=taken_kinds(kinds, only))


def _episode_rows(
    made: LoggedRows,
    entries: Sequence[Entry],
    fields: Sequence[str],
    text_field: str | None,
) -> Iterator[Json]:
    for episode in _episodes(entries):
        asked = (e for e in episode if e.request and _kind(e.request) in made.taken)
        said = next(((e, t) for e in asked if (t := _first_text(e.request))), None)
        text = said[1] if said is not None else None
        traced = ((entry, _arguments(entry, fields, text)) for entry in episode)
        called = next(((e, given) for e, given in traced if given is not None), None)
        if called is not None:
            made.from_arguments += 1
            yield {**called[1], **_logged(called[0], called[0].result)}
        elif said is not None and text_field is not None:
            made.from_messages += 1
            yield {text_field: said[1], **_logged(said[0], None)}


def _episodes(entries: Sequence[Entry]) -> list[list[Entry]]:
    """Group entries by trace, in order; without a trace, each is by itself.

    Later turns of a conversation begin as its first one does, and are doubles of it.
    """
    traces: dict[str, list[Entry]] = defaultdict(list)
    alone = []
    for entry in entries:
        if entry.trace is None:
            alone.append([entry])
        else:
            traces[entry.trace].append(entry)
    return [*(sorted(each, key=lambda e: e.at) for each in traces.values()), *alone]


def _arguments(entry: Entry, fields: Sequence[str], said: str | None) -> Json | None:
    """Return the fields that a traced function was given, if it was given all of them.

    Without a name, only one argument can be told, and only if the user ``said`` it.
    """
    given = dict(entry.arguments)
    unnamed = [name for name in fields if name not in given]
    if len(unnamed) == 1 and len(entry.positional) == 1:
        value = entry.positional[0]
        if said is None or (isinstance(value, str) and value in said):
            given[unnamed[0]] = value
    return (
        {name: given[name] for name in fields} if set(fields) <= given.keys() else None
    )


def _first_text(request: Request | None) -> str | None:
    messages = request.messages if request is not None else []
    said = next((m.get("content") for m in messages if m["role"] == "user"), None)
    if isinstance(said, list):  # parts
        texts = [part.get("text") for part in said if isinstance(part, dict)]
        said = "\n".join(text for text in texts if isinstance(text, str)) or None
    return said if isinstance(said, str) else None


def _request_row(entry: Entry, request: Request) -> Json:
    row: Json = {MESSAGES: request.messages}
    if request.tools:
        row["tools"] = request.tools
    if request.model:
        row["model"] = request.model
    if request.answer is not None:
        row["reference"] = request.answer
    return {**row, **_logged(entry, None)}


def _logged(entry: Entry, answer: Any) -> Json:
    said = {"at": entry.at, "trace": entry.trace, "answer": answer}
    known = {name: value for name, value in said.items() if value}
    return {LOGGED: known} if known else {}


def _kept(
    made: LoggedRows,
    rows: Iterable[Json],
    fields: Sequence[str],
    earlier: Iterable[Json],
    allowed: Collection[str],
) -> LoggedRows:
    seen = {_key(row, fields) for row in earlier}
    for row in rows:
        key = _key(row, fields)
        if key in seen:
            made.known += 1
            continue
        seen.add(key)
        secrets = {
            name: found
            for name, value in row.items()
            if name not in allowed and (found := list(secrets_in(value)))
        }
        if secrets.keys() - {LOGGED}:
            for name, found in secrets.items():
                made.secrets.setdefault(name, []).extend(found)
        else:
            made.rows.append({k: v for k, v in row.items() if k not in secrets})
    return made


def _kind(request: Request) -> Kind:
    prompts = (m.get("content") for m in request.messages if m["role"] in INSTRUCT)
    prompt = next((text for text in prompts if isinstance(text, str)), "")
    named = (tool.get("function", tool).get("name") for tool in request.tools or ())
    return Kind(
        " ".join(prompt.split())[:BEGINNING],
        tuple(sorted(name for name in named if isinstance(name, str))),
    )


def _key(row: Json, fields: Sequence[str]) -> str:
    return json.dumps({name: row.get(name) for name in fields}, sort_keys=True)
