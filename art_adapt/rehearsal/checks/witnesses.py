"""Say what was seen of what adapting states, and check that episodes differ."""

from __future__ import annotations

import ast
import json
from collections.abc import Collection, Iterator, Mapping
from string import Formatter
from typing import Any

from art_adapt.code.nodes import dotted
from art_adapt.code.syntax import LOOPS, Syntax
from art_adapt.paths import at
from art_adapt.rehearsal.checks import (
    as_seen,
    groups,
    outside,
    repeated,
    requests,
    rewards,
    rows,
    unreached,
)
from art_adapt.rehearsal.checks.tools import replies
from art_adapt.rehearsal.parts import EPISODE
from art_adapt.rehearsal.protocol import Json, Trajectory
from art_adapt.rehearsal.replies import is_judgement
from art_adapt.rehearsal.seen import (
    Finding,
    Seen,
    Witness,
    asking,
    given_choices,
    offered_tools,
    shortened,
    start_of,
    tool_calls,
)
from art_adapt.scenarios.unpassed import unpassed
from art_adapt.source import Place, read_source

SHORTEST = 3  # characters of a text that would not be in a request by chance
SHOWN = 5  # files
FEWEST, MANY = 4, 10  # episodes, and turns that are no chance


def witnesses(seen: Seen) -> Iterator[Witness]:
    """Yield what was seen, and what was not: fields that reach the model, tools that ran."""
    sent, used = _asked(seen), _used_fields(seen.syntax)
    texts = _texts(seen)
    for name, values in texts.items():
        if used is not None and name not in used:
            continue  # a key for the reward, or of what the agent is not given
        if name == "arguments" and seen.starts_program:
            continue  # files and seeds, of which the model is told what the program makes
        count = sum(_is_in(value, sent) for value in values)
        if not (count or seen.groups):
            continue  # nothing but held-out scenarios was run
        statement = f"scenario.{name} is in a request, for {count} of {len(values)}"
        yield Witness(statement, bool(count), f"scenario.{name} reached no request")
    yield from _unpassed(seen, used)
    differing = _differing(seen) if not texts and len(seen.groups) > 1 else {}
    if not _are_switches(differing):  # of switches it is a finding
        names = ", ".join(differing)
        yield Witness(
            f"scenarios differ by what the model is told ({names})",
            not _is_told_the_same(seen),
            f"scenarios differ in {names}, and the model was told the same in all of them",
        )
    told = replies(seen)
    called = set(map(_name_of, tool_calls(seen)))
    wrong = {mark for mark, each in given_choices(seen).items() if each.fault}
    for name in offered_tools(seen) if seen.episodes else ():
        if _is_form(name, seen):
            continue
        times = len(told.get(name, ()))
        if not times and name in called and _ends(name, seen, wrong):
            yield Witness(f"a call of the tool {name} ends the episode", True)
            continue
        if times and all(each.is_empty for each in told[name]):
            empty = f"all {times} replies of the tool {name} were empty"
            yield Witness(empty, False, empty)
            continue
        yield Witness(
            f"the tool {name} was called and answered ({times})",
            bool(times),
            f"the tool {name} answered none of its valid calls"
            if name in called
            else f"the tool {name} was never called",
        )
    asked_by = {f"{each}.".replace("<locals>.", "") for each in asking(seen)}
    for name, place in dict(seen.agent.hooked).items() if asked_by else ():
        # A lambda in it may ask, which is tried again.
        asked = any(each.startswith(f"{name}.") for each in asked_by)
        yield Witness(f"{name} ({at(place)}) called the model", asked)
    yield from _turns(seen)
    yield from requests.witnesses(seen)
    yield from _unmarked(seen)
    if seen.written is not None:
        names = ", ".join(sorted(path.as_posix() for path in seen.written)[:SHOWN])
        which = f": {names}" if names else ""
        yield Witness(
            f"no file of the project was written{which}",
            not seen.written,
            f"an episode wrote files of the project{which}; if others must not see that, adapt "
            "again with --isolate copy",
        )
    yield from rows.witnesses(seen)
    yield from groups.witnesses(seen)
    yield from rewards.witnesses(seen)
    yield from outside.witnesses(seen)
    yield from unreached.witnesses(seen)
    yield from as_seen.witnesses(seen)
    yield from repeated.witnesses(seen)


def _unmarked(seen: Seen) -> Iterator[Witness]:
    """Yield episodes that ended with a value of the code's own, where others marked an answer."""
    ended = [
        each
        for each in seen.notes.rollouts
        if each.trajectory.choices
        and each.trajectory.failure is None
        and each.trajectory.answer is not None
    ]
    own = [each.trajectory.answer or "" for each in ended if not each.is_marked]
    if own and len(own) < len(ended):
        yield Witness(
            "each episode ended at an answer that final_answer(...) marks",
            False,
            f"{len(own)} of {len(ended)} episodes ended where no final_answer(...) is: what the code "
            f"returned counts as the answer, such as {shortened(own[0])}. Check that no reward is high for it",
        )


def _turns(seen: Seen) -> Iterator[Witness]:
    """Yield whether a loop of turns went round again, if there is one loop to speak of.

    An agent whose model asks for tools in text offers none in its requests: the scripted
    model then may end each episode with its first reply, and nothing else tells.
    """
    whole = [each for each in seen.episodes if each.choices and each.failure is None]
    turns = [len(history.choices) for each in whole for history in each.histories]
    if not turns or len(seen.agent.loops) != 1:
        return
    if max(turns) == 1 and (
        any(len(each.choices) > 1 for each in whole)
        or any(
            each.message.get("tool_calls")
            for episode in seen.episodes
            if episode.failure is not None
            for each in episode.choices
        )
    ):
        return  # another call's, or a conversation for each turn, or tools that failed
    where = at(seen.agent.loops[0])
    yield Witness(
        f"the loop at {where} went round again, for up to {max(turns)} turns",
        max(turns) > 1,
        f"every episode ended with its first reply: the loop at {where} never ran a second turn; use "
        "--replies to supply tool calls",
    )
    alike = len(turns) >= FEWEST and min(turns) == max(turns) >= MANY
    if alike and _may_end_early(seen.agent.loops[0]):
        yield Witness(
            "an episode ended by itself",
            False,
            f"every episode took {max(turns)} turns and none ended by itself: the code that ends one "
            f"before the limit of {where} never ran; use --replies to supply a reply that does",
        )


def _may_end_early(place: Place) -> bool:
    """True if code in a loop ends it, or its function, before its limit."""
    syntax = Syntax.of(read_source(place.path))
    return any(
        isinstance(node, ast.Return | ast.Break)
        for loop in syntax.nodes
        if isinstance(loop, LOOPS) and loop.lineno == place.line
        for node in ast.walk(loop)
    )


def _unpassed(seen: Seen, used: set[str] | None) -> Iterator[Witness]:
    """Yield the keys of rows that the agent has a parameter for, and that it is not given."""
    rows = [row for row in seen.notes.scenarios if isinstance(row, dict)]
    keys = dict.fromkeys(key for row in rows for key in row)
    aside = [] if used is None else [key for key in keys if key not in used]
    for name, where in unpassed(seen.path, aside).items():
        yield Witness(
            f"{where} was given {name}, which rows have",
            False,
            f"rows have {name}, which {where} takes; episode() does not pass it",
        )


def told_apart(seen: Seen) -> Iterator[Finding]:
    """Report scenarios of which nothing reaches the model: every episode has one task."""
    starts = {json.dumps(start_of(each)) for each in seen.episodes if each.histories}
    if len(starts) != 1:
        return
    fields = _one_task(seen, *starts) if len(seen.groups) > 1 else ()
    nobody = not any(_has_user(each) for each in seen.episodes)
    if not fields and not (nobody and _tells_nothing(seen, *starts)):
        return
    used = _used_fields(seen.syntax)
    which = f" ({', '.join(fields)})" if fields else ""
    yield seen.finding(
        "one task",
        f"no request tells scenarios apart{which}: all episodes began with the same messages"
        + (", none of them from a user" if nobody else ""),
        "choose the function that is given the task, with --entry, and adapt again"
        if not fields
        else "pass the scenario to the agent in episode()"
        if used is not None and not used.issuperset(fields)
        else "episode() passes it, and no message has it: make what the agent is to do an argument "
        "of its function, and adapt again",
        EPISODE,
    )


def _tells_nothing(seen: Seen, start: str) -> bool:
    """True if no value of any row is in the messages that all episodes began with."""
    plain = json.dumps(json.loads(start), ensure_ascii=False)
    rows = [row for row in seen.notes.scenarios if isinstance(row, dict)]
    values = (value for row in rows for value in row.values())
    return not any(_is_in(str(v), plain) for v in values if isinstance(v, str | int))


def _one_task(seen: Seen, start: str) -> Collection[str]:
    """Return the fields by which scenarios differ, if all episodes have one task; else none.

    ``start``: the messages that all of them began with, as JSON.
    """
    texts = _texts(seen)
    if len({json.dumps(_texts_of(each)) for each in seen.notes.scenarios}) > 1:
        asked = _asked(seen)
        plain = json.dumps(json.loads(start), ensure_ascii=False)
        every = (value for values in texts.values() for value in values)
        # Else it is told later: by a tool, or by whoever speaks with the agent.
        is_told = any(_is_in(e, asked) and not _is_in(e, plain) for e in every)
        return () if is_told else texts
    differing = _differing(seen)
    is_one = _are_switches(differing) and _is_told_the_same(seen)
    return differing if is_one else ()


def _are_switches(fields: Mapping[str, list[Any]]) -> bool:
    return all(
        isinstance(value, bool | None) for each in fields.values() for value in each
    )


def _differing(seen: Seen) -> dict[str, list[Any]]:
    """Return the fields that episode() uses and in which scenarios differ, with their values."""
    used = _used_fields(seen.syntax)
    found: dict[str, dict[str, Any]] = {}
    for row in seen.notes.scenarios:
        for name, value in row.items() if isinstance(row, dict) else ():
            if used is None or name in used:
                found.setdefault(name, {})[json.dumps(value, sort_keys=True)] = value
    return {
        name: [*values.values()] for name, values in found.items() if len(values) > 1
    }


def _is_told_the_same(seen: Seen) -> bool:
    """True if all episodes told their model the same, but that some ended earlier."""
    told = sorted((_told(each) for each in seen.episodes), key=len)
    return all(told[-1][: len(each)] == each for each in told)


def _told(episode: Trajectory) -> list[Json]:
    """Return what an episode's model was told: all messages but its own."""
    return [
        item.message
        for history in episode.histories
        for item in history.items
        if item.choice is None and item.message.get("role") != "assistant"
    ]


def _texts(seen: Seen) -> dict[str, list[str]]:
    """Return the different texts of each field of the scenarios, those of lists too."""
    found: dict[str, dict[str, None]] = {}
    for scenario in seen.notes.scenarios:
        for name, text in _texts_of(scenario):
            found.setdefault(name, {})[text] = None
    return {name: list(values) for name, values in found.items()}


def _texts_of(scenario: Any) -> list[tuple[str, str]]:
    """Return the texts of one scenario, those in its lists too, each with its field."""
    return [
        (name, text)
        for name, value in (scenario.items() if isinstance(scenario, dict) else ())
        for text in (value if isinstance(value, list) else [value])
        if isinstance(text, str) and len(text) >= SHORTEST
    ]


def _used_fields(syntax: Syntax) -> set[str] | None:
    """Return the fields that the train module's episode() uses; None: it hands the scenario on."""
    nodes = [
        node
        for function in filter(EPISODE, syntax.nodes)
        for node in ast.walk(function)
    ]
    used = [
        node.attr
        for node in nodes
        if isinstance(node, ast.Attribute) and dotted(node.value) == "scenario"
    ]
    names = [n for n in nodes if isinstance(n, ast.Name) and n.id == "scenario"]
    return set(used) if len(names) == len(used) else None


def _ends(name: str, seen: Seen, wrong: Collection[int]) -> bool:
    """True if each right call of a tool is the end of its episode, as of ``finish``.

    ``wrong``: the choices in which the scripted model made a mistake.
    """
    followed = [
        at + 1 < len(history.items)
        for episode in seen.episodes
        if episode.failure is None
        for history in episode.histories
        for at, item in enumerate(history.items)
        if item.choice is not None
        and item.choice.mark not in wrong
        and name in map(_name_of, item.message.get("tool_calls") or ())
    ]
    return bool(followed) and not any(followed)


def _is_form(name: str, seen: Seen) -> bool:
    """True if each request that offers a tool also demands it: a form for the reply."""
    demands = [
        (exchange.request.get("tool_choice") or {})
        for exchange in seen.policy
        if any(_name_of(tool) == name for tool in exchange.request.get("tools") or ())
    ]
    return all(isinstance(e, dict) and _name_of(e) == name for e in demands)


def _name_of(tool: dict[str, Any]) -> str | None:
    named: str | None = tool.get("function", tool).get("name")
    return named


def _asked(seen: Seen) -> str:
    """Return all that was sent to the model in training, but for what it had said."""
    messages = (
        message
        for exchange in seen.log
        if exchange.is_policy and not is_judgement(exchange.request)
        for message in exchange.request.get("messages") or ()
        if message.get("role") != "assistant"
    )
    return json.dumps(list(messages), ensure_ascii=False)


def _is_in(value: str, asked: str) -> bool:
    """True if a text was sent: of one that is formatted first, what stands between its fields."""
    try:
        fixed = [literal for literal, *_ in Formatter().parse(value)]
    except ValueError:  # braces that are no fields
        fixed = []
    every = [value], [part for part in fixed if len(part.strip()) >= SHORTEST]
    return any(
        bool(parts) and all(any(form in asked for form in _forms(e)) for e in parts)
        for parts in every
    )


def _forms(text: str) -> Iterator[str]:
    """Yield how a text may stand in what was asked: as it is, or in JSON that the agent writes."""
    for form in (
        text,
        json.dumps(text)[1:-1],
        json.dumps(text, ensure_ascii=False)[1:-1],
    ):
        yield json.dumps(form, ensure_ascii=False)[1:-1]


def _has_user(episode: Trajectory) -> bool:
    return any(
        item.message.get("role") == "user"
        for history in episode.histories
        for item in history.items
    )
