"""Makes rows of scenarios from what a listener has noted."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from art_adapt.errors import Refusal
from art_adapt.json_lines import json_lines
from art_adapt.secret_texts import secrets_in

MESSAGES = "messages"
CAPTURED = "captured"  # the key of a row with when it was, and what came of it


@dataclass
class Kept:
    """The rows made of notes, and what was left out.

    Attributes:
        rows: new ones, in the order in which their episodes ended.
        conversations: of all episodes, as ART's fine-tuning reads them.
        episodes: that were noted.
        known: episodes that start as an earlier one does.
        secrets: by field, what looks like one, cut off.
        cut: fields out of whose texts a secret was cut.
        not_json: by field, the type of what JSON cannot hold.
        turned: by field, the types of what is in a container, and became text or a dict.
        going_on: rows whose episode was asked with what an earlier one had said.
        made_up: fields with a value of the environment that ``--scripted`` made up.
    """

    rows: list[dict[str, Any]] = field(default_factory=list)
    conversations: list[dict[str, Any]] = field(default_factory=list)
    episodes: int = 0
    known: int = 0
    secrets: dict[str, list[str]] = field(default_factory=dict)
    cut: set[str] = field(default_factory=set)
    not_json: dict[str, set[str]] = field(default_factory=dict)
    turned: dict[str, set[str]] = field(default_factory=dict)
    going_on: list[dict[str, Any]] = field(default_factory=list)
    made_up: set[str] = field(default_factory=set)


def rows_in(path: Path) -> list[dict[str, Any]]:
    """Return the rows of a file; none if there is no file.

    Raises:
        Refusal: it cannot be read.
    """
    try:
        return [row for _, row in json_lines(path)] if path.exists() else []
    except (OSError, ValueError) as error:
        raise Refusal(str(error), path=path) from error


def kept_rows(
    notes: Iterable[dict[str, Any]],
    fields: Collection[str],
    earlier: Iterable[dict[str, Any]],
    allowed: Collection[str] = (),
    made_up: Collection[str] = (),
) -> Kept:
    """Return a row for each episode that starts as none before it.

    Args:
        notes: of a listener, one an episode.
        fields: of a scenario.
        earlier: rows that are there already.
        allowed: fields whose values are kept even if they look like secrets.
        made_up: values that no row keeps: those of the environment of ``--scripted``.
    """
    kept = Kept()
    seen = {_key(row, fields): row for row in earlier}
    for note in notes:
        kept.episodes += 1
        kept.conversations += _conversations(note, allowed, kept)
        row = _row(note, allowed, made_up, kept)
        if row is None:
            continue
        key = _key(row, fields)
        if key in seen:
            kept.known += 1
            if isinstance(captured := seen[key].get(CAPTURED), dict):
                when = {name: row[CAPTURED][name] for name in ("at", "seconds")}
                captured.setdefault("again", when)  # a rehearsal compares the two
            continue
        seen[key] = row
        kept.rows.append(row)
        kept.going_on += [row] if note.get("goes_on", False) else []
    return kept


def _row(
    note: dict[str, Any], allowed: Collection[str], made_up: Collection[str], kept: Kept
) -> dict[str, Any] | None:
    row: dict[str, Any] = {}
    complete = True
    for name, said in note["fields"].items():
        if "not_json" in said:
            kept.not_json.setdefault(name, set()).add(said["not_json"])
            complete = False
        elif isinstance(said["value"], str) and said["value"] in made_up:
            kept.made_up.add(name)
        elif name not in allowed and (secrets := list(secrets_in(said["value"]))):
            kept.secrets.setdefault(name, []).extend(secrets)
            complete = False
        else:
            row[name] = said["value"]
            if said.get("cut"):
                kept.cut.add(name)
            if turned := said.get("turned"):
                kept.turned.setdefault(name, set()).update(turned)
    answer = note["answer"]
    began = datetime.fromtimestamp(note["began"], UTC)
    row[CAPTURED] = {  # by its time a rehearsal finds the run again
        "at": began.isoformat(timespec="microseconds"),
        "seconds": note["seconds"],
        "outcome": note["outcome"],
        "answer": None if any(secrets_in(answer)) else answer,
    }
    return row if complete else None


def _conversations(
    note: dict[str, Any], allowed: Collection[str], kept: Kept
) -> Iterator[dict[str, Any]]:
    for conversation in note.get("conversations", ()):
        secrets = list(secrets_in(conversation["messages"]))
        if secrets and MESSAGES not in allowed:
            kept.secrets.setdefault(MESSAGES, []).extend(secrets)
        else:
            started = {n: said.get("value") for n, said in note["fields"].items()}
            yield {**conversation, "scenario": started, "outcome": note["outcome"]}


def is_of_row(earlier: dict[str, Any], row: dict[str, Any]) -> bool:
    """True if a row says all that an earlier one of the same episode does, and more."""
    one, other = ((each.get(CAPTURED) or {}).get("at") for each in (earlier, row))
    return one is not None and all(
        one == other if name == CAPTURED else name in row and row[name] == value
        for name, value in earlier.items()
    )


def _key(row: dict[str, Any], fields: Collection[str]) -> str:
    return json.dumps({name: row.get(name) for name in fields}, sort_keys=True)
