"""Tell from runs which function runs an episode.

It encloses whole conversations or begins a user's turn in one, and is given what the model is
asked and not what the model said. Of several that enclose each other the outermost is the
episode; the others are its parts.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from art_adapt.code.syntax import MODULE_LEVEL
from art_adapt.code.trials import is_collected
from art_adapt.conversation_signs import text_of
from art_adapt.seen.conversations import TELLING, asked_anew, conversations_of
from art_adapt.seen.notes import Call, FunctionKey, Request, Run

Json = dict[str, Any]
CallKey = tuple[int, int]  # the identity of a run, and the number of a call in it

SHORTEST = 3  # characters of a text that is not in another one by chance
MOST_CALLS = 50  # of a function in one run: what they have not shown, more will not
MOST_BEFORE = 200  # requests before a call in which what it is given may have been said


@dataclass(frozen=True)
class Enclosing:
    """A call with what was asked in it, and what that shows of it.

    ``given``: the parameters whose text the model was asked; ``told``: one of them is more than
    the conversation. ``answers``: it returned what the model said last. ``whole``: no
    conversation in it began or went on outside. ``is_part``: it was given what the model had said;
    ``may_be_part``: or a word of it, which may be chance. ``is_fed``: what it asked first holds
    what the model had said before, which it was not given: another object keeps that.
    """

    run: Run
    call: Call
    requests: tuple[Request, ...]
    given: tuple[str, ...]
    told: bool
    answers: bool
    whole: bool
    is_part: bool
    may_be_part: bool
    is_fed: bool


@dataclass(frozen=True)
class SeenFunction:
    """A function that asked, with all of its calls that did.

    ``depth``: of the outermost one. ``is_inner``: another that was given a task was around one.
    ``is_step``: another called it for one turn after the other of whole conversations.
    ``is_batch``: it was given rows, and another function one of them for each conversation.
    """

    key: FunctionKey
    calls: tuple[Enclosing, ...]
    depth: int
    is_inner: bool = False
    is_step: bool = False
    is_batch: bool = False

    @property
    def runs_episodes(self) -> bool:
        """True if each call was a whole episode, or a user's turn."""
        whole = all((e.whole or e.given) and not e.is_part for e in self.calls)
        # What happens each time is no chance.
        always = len(self.calls) > 1 and all(each.may_be_part for each in self.calls)
        return whole and not (always or self.is_step or self.is_fed)

    @property
    def is_fed(self) -> bool:
        """True if calls were told what the model had said in earlier ones, and nothing else.

        They are moves of a game. What a person types is a task, wherever it is read.
        """
        first = {id(each.run): each for each in reversed(self.calls)}
        later = [each for each in self.calls if first[id(each.run)] is not each]
        is_told = any("." not in name for name in self.given)
        is_typed = any(each.run.typed for each in self.calls)
        return (
            bool(later) and all(e.is_fed for e in later) and not (is_told or is_typed)
        )

    @property
    def given(self) -> tuple[str, ...]:
        """Return the parameters that the task comes with."""
        return tuple(dict.fromkeys(name for each in self.calls for name in each.given))

    @property
    def told(self) -> bool:
        return any(each.told for each in self.calls)

    @property
    def answers(self) -> bool:
        return any(each.answers for each in self.calls)

    @cached_property
    def text(self) -> str:
        """Return all that the model was asked in the calls."""
        requests = (request for each in self.calls for request in each.requests)
        return "\n".join(text_of(m) for request in requests for m in request.messages)

    @property
    def asked(self) -> set[tuple[int, ...]]:
        """Return the requests of each call, by their numbers."""
        return {tuple(r.number for r in each.requests) for each in self.calls}


def seen_functions(runs: Sequence[Run]) -> list[SeenFunction]:
    """Return the functions in which a model was asked, the likeliest episode first.

    Tests and the module level itself are none.
    """
    calls: dict[FunctionKey, list[Enclosing]] = {}
    depths: dict[FunctionKey, int] = {}
    for run in runs:
        for each, depth in _enclosing(run):
            if run.is_of_itself(each.call):
                continue
            calls.setdefault(each.call.key, []).append(each)
            depths[each.call.key] = min(depth, depths.get(each.call.key, depth))
    found = [
        SeenFunction(key, tuple(each), depths[key])
        for key, each in calls.items()
        if not (key[1] == MODULE_LEVEL or is_of_test(*key) or each[0].call.is_nested)
    ]
    whole = {
        _call_of(each): each.call.key for f in found for each in f.calls if each.whole
    }
    found = [
        replace(e, is_step=_is_step(e, whole), is_batch=_is_batch(e, found))
        for e in found
    ]
    outer = {each.key for each in found if each.runs_episodes and each.given}
    marked = (
        replace(each, is_inner=not outer.isdisjoint(around_of(each))) for each in found
    )
    return sorted(marked, key=_rank)


def _is_step(function: SeenFunction, whole: Mapping[CallKey, FunctionKey]) -> bool:
    """True if another function called this one for the turns of conversations that it enclosed.

    A server's handler is called for each turn as well, but by a library. ``whole``: the calls
    that enclosed whole conversations, with their functions.
    """
    turns = [each for each in function.calls if not each.whole]
    return bool(turns) and all(
        any(whole.get(outer) not in (None, function.key) for outer in _callers(each))
        for each in turns
    )


def _is_batch(function: SeenFunction, others: Sequence[SeenFunction]) -> bool:
    """True if each call was given a list, and made all its requests in calls for one element each.

    An evaluation does that with its rows. An agent that does it with the parts of its task asks
    once more, about all of them. A list of one shows nothing alone.
    """

    def goes_through(outer: Enclosing, rows: list[Any], other: SeenFunction) -> bool:
        inner = [
            each
            for each in other.calls
            if each.run is outer.run
            and any(c is outer.call for c in each.run.outward(each.call.around))
        ]
        asked = {request.number for each in inner for request in each.requests}
        every = {request.number for request in outer.requests}
        return (
            len(inner) == min(len(rows), MOST_CALLS)
            and all(each.whole and not each.is_part for each in inner)
            and (asked == every or len(inner) == MOST_CALLS)
            and all(
                any(note.get("value") in rows for note in each.call.given.values())
                for each in inner
            )
        )

    def most_rows(call: Enclosing) -> int:
        values = (note.get("value") for note in call.call.given.values())
        lists = [rows for rows in values if isinstance(rows, list) and rows]
        through = (
            len(rows)
            for rows in lists
            if any(goes_through(call, rows, other) for other in others)
        )
        return max(through, default=0)

    counts = [most_rows(call) for call in function.calls]
    return min(counts) > 0 and max(counts) > 1


def _callers(enclosing: Enclosing) -> Iterator[CallKey]:
    """Yield the calls around one, as far as each called the next by itself."""
    call = enclosing.call
    for outer in enclosing.run.outward(call.around):
        if not call.direct:
            return
        yield id(enclosing.run), outer.number
        call = outer


def _call_of(enclosing: Enclosing) -> CallKey:
    return id(enclosing.run), enclosing.call.number


def around_of(function: SeenFunction) -> set[FunctionKey]:
    """Return the other functions that calls of a function were made in."""
    return {
        call.key
        for each in function.calls
        for call in each.run.outward(each.call.around)
        if call.key != function.key
    }


def seen_episodes(runs: Sequence[Run]) -> list[SeenFunction]:
    """Return the functions that may run an episode, as far as runs tell; the likeliest first."""
    return [each for each in seen_functions(runs) if each.runs_episodes]


def _rank(function: SeenFunction) -> tuple[bool, bool, bool, int]:
    return (
        not function.runs_episodes,
        not function.given,
        function.is_inner,
        function.depth,
    )


def is_of_test(path: Path, function: str) -> bool:
    """True if pytest collects a function from its file."""
    return is_collected(path) or function.rpartition(".")[2].startswith("test_")


def _enclosing(run: Run) -> Iterator[tuple[Enclosing, int]]:
    """Yield the first calls of each function with what was asked in them, and their depths."""
    conversations = {
        number: conversation
        for conversation in conversations_of(run.requests)
        for number in conversation
    }
    anew = asked_anew(run.requests)
    inside: dict[int, list[int]] = {}
    for at, request in enumerate(run.requests):
        for call in run.enclosing(request):
            inside.setdefault(call.number, []).append(at)
    looked: Counter[FunctionKey] = Counter()
    for number, places in inside.items():
        call = run.calls[number]
        looked[call.key] += 1
        if looked[call.key] > MOST_CALLS:
            continue
        requests = tuple(run.requests[at] for at in places)
        numbers = {each.number for each in requests}
        whole = all(conversations[each] <= numbers for each in numbers)
        # What asks for a form first, or another fixed thing, asks for its task later.
        asked = (anew[requests[0].number], "\n".join(anew[n] for n in sorted(numbers)))
        given = next(filter(None, (dict(_asked_of(run, call, a)) for a in asked)), {})
        before = run.requests[max(0, places[0] - MOST_BEFORE) : places[0]]
        enclosing = Enclosing(
            run,
            call,
            requests,
            tuple(name for name, told in given.items() if told or whole),
            any(given.values()),
            _answers(call, requests[-1]),
            whole,
            _is_part(call, before, run),
            _is_part(call, before, run, shortest=SHORTEST),
            _is_fed(call, before, run, asked[0]),
        )
        yield enclosing, sum(1 for _ in run.outward(number))


def _asked_of(run: Run, call: Call, asked: str) -> Iterator[tuple[str, bool]]:
    """Yield the parameters whose text is in what was asked, and whether it is no conversation's.

    Those of the object's construction and set-up count as well, as ``add_task.text``. A
    conversation counts where it begins: an LLM helper is given one that goes on.
    """
    owner = run.owner(call)
    made = [] if owner is None else [owner.init, *owner.calls]
    for each in (call, *(each for each in made if each is not None)):
        prefix = "" if each is call else f"{each.name}."
        for name, note in each.given.items():
            value = plain(run, note)
            if any(
                _is_in(t, asked) for t in texts_in(value, messages=True, shortest=1)
            ):
                texts = texts_in(value, messages=False, shortest=1)
                yield prefix + name, any(_is_in(text, asked) for text in texts)


def _is_in(text: str, asked: str) -> bool:
    """True if a text is in what was asked; a short one only as a line of its own."""
    return text in (asked if len(text) >= SHORTEST else asked.split("\n"))


def plain(run: Run, note: Json, depth: int = 2) -> Any:
    """Return a value, or what an object of the project was made with, or its plain parts."""
    made = run.objects.get(note.get("object", 0))
    if made is not None and made.init is not None and depth:
        return [plain(run, each, depth - 1) for each in made.init.given.values()]
    return note.get("value", note.get("parts"))


def texts_in(value: Any, *, messages: bool, shortest: int = SHORTEST) -> Iterator[str]:
    """Yield the texts in a value; those of a conversation only with ``messages``.

    What the model said in one never counts, nor does a text of fewer characters than
    ``shortest``.
    """
    if isinstance(value, str):
        if len(value.strip()) >= shortest:
            yield value.strip()
    elif isinstance(value, dict):
        is_message = "role" in value and "content" in value
        if not is_message or (messages and value["role"] != "assistant"):
            for each in value.values():
                yield from texts_in(each, messages=messages, shortest=shortest)
    elif isinstance(value, list):
        for each in value:
            yield from texts_in(each, messages=messages, shortest=shortest)


def _answers(call: Call, last: Request) -> bool:
    """True if a call returned what the model said last, or a part of it; what yields may have."""
    said = text_of(last.message).strip()
    if call.generates:
        return True
    value = call.returned.get("value", call.returned.get("parts"))
    returned = json.dumps(value, ensure_ascii=False)
    if len(said) >= SHORTEST and json.dumps(said, ensure_ascii=False)[1:-1] in returned:
        return True
    return any(text in said for text in texts_in(value, messages=True))


def is_fed_on(function: SeenFunction, others: Sequence[SeenFunction]) -> bool:
    """True if what each call of a function was told was given to another one, beside it.

    Such a function is a part of an episode, if it asked once and offered no tool: what it
    returned is worked on, in requests that it does not enclose. What takes several turns is
    whole, whoever reads its answer. The last call of a run may have had nobody after it.
    """
    requests = [each.requests for each in function.calls]
    if any(len(each) > 1 or each[0].offered for each in requests):
        return False
    fed = [any(_feeds(each, other) for other in others) for each in function.calls]
    return any(fed) and all(fed[:-1])


def _feeds(enclosing: Enclosing, other: SeenFunction) -> bool:
    """True if what was said in a call was given to a later one, which no call of its function is.

    Nor is it inside one: a chat goes on in the next turn.
    """
    own, key = {request.number for request in enclosing.requests}, enclosing.call.key
    return any(
        each.run is enclosing.run
        and key not in (c.key for c in (each.call, *each.run.outward(each.call.around)))
        and max(own) < min(request.number for request in each.requests)
        and _is_part(each.call, enclosing.requests, each.run)
        for each in other.calls
    )


def _is_part(
    call: Call, before: Sequence[Request], run: Run, shortest: int = TELLING
) -> bool:
    """True if a call was given what the model had said within a call around it.

    What the model was told itself, as a question that it repeats or an example in a tool's
    schema, is not its own; nor is a conversation handed on that holds its answers as such.
    """
    given = [
        text
        for note in call.given.values()
        for text in texts_in(note.get("value"), messages=True)
    ]
    given = [text for text in given if len(text) >= shortest]
    around = {each.number for each in run.outward(call.around)}
    for earlier in before if given else ():
        if around.isdisjoint(each.number for each in run.outward(earlier.around)):
            continue
        tools = texts_in(earlier.body.get("tools"), messages=True)
        told = "\n".join([*map(text_of, earlier.messages), *tools])
        for said in said_in(earlier.message):
            if len(said) >= shortest and any(
                (said in text and said not in told)
                or (_is_within(text, said) and text not in told)
                for text in given
            ):
                return True
    return False


def _is_fed(call: Call, before: Sequence[Request], run: Run, asked: str) -> bool:
    """True if what a call asked first holds what the model said within a call around it.

    What it was given does not count; see ``_is_part``.
    """
    around = {each.number for each in run.outward(call.around)}
    given = json.dumps(
        [n.get("value") for n in call.given.values()], ensure_ascii=False
    )
    return any(
        len(said) >= TELLING
        and said in asked
        and json.dumps(said, ensure_ascii=False)[1:-1] not in given
        for earlier in before
        if not around.isdisjoint(each.number for each in run.outward(earlier.around))
        for said in said_in(earlier.message)
    )


def _is_within(text: str, said: str) -> bool:
    """True if a text is in what was said; a short one only as words of it."""
    if len(text) >= TELLING or text not in said:
        return text in said
    return re.search(rf"(?<!\w){re.escape(text)}(?!\w)", said) is not None


def said_in(message: Json) -> Iterator[str]:
    """Yield the texts that a model said: its content, and what it gave to tools."""
    yield text_of(message).strip()
    for each in message.get("tool_calls") or ():
        with suppress(TypeError, ValueError, KeyError):
            yield from texts_in(
                json.loads(each["function"]["arguments"]), messages=True
            )
