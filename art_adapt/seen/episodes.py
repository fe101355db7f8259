"""Tell from runs which function runs an episode.

It encloses whole conversations or begins a user's turn in one, and is given what the model is
asked and not what the model said. Of several that enclose each other the outermost is the
episode; the others are its parts.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from art_adapt.code.syntax import MODULE_LEVEL
from art_adapt.seen.notes import Call, FunctionKey, Request, Run

Json = dict[str, Any]

SHORTEST = 3  # characters of a text that is not in another one by chance
TELLING = 12  # of a completion


@dataclass(frozen=True)
class Enclosing:
    """A call with what was asked in it, and what that shows of it.

    ``given``: the parameters whose text the model was asked; ``told``: those of them that are
    no conversation. ``answers``: it returned what the model said last. ``whole``: no conversation in it began or went on outside. ``is_part``: it
    was given what the model had said, or the conversation itself.
    """

    run: Run
    call: Call
    requests: tuple[Request, ...]
    given: tuple[str, ...]
    told: bool
    answers: bool
    whole: bool
    is_part: bool


@dataclass(frozen=True)
class SeenFunction:
    """A function that asked, with all of its calls that did.

    ``depth``: of the outermost one. ``is_inner``: another that was given a task was around one.
    """

    key: FunctionKey
    calls: tuple[Enclosing, ...]
    depth: int
    is_inner: bool = False

    @property
    def runs_episodes(self) -> bool:
        """True if each call was a whole episode, or a user's turn."""
        return all((e.whole or e.given) and not e.is_part for e in self.calls)

    @property
    def given(self) -> tuple[str, ...]:
        """The parameters that the task comes with."""
        return tuple(dict.fromkeys(name for each in self.calls for name in each.given))

    @property
    def told(self) -> bool:
        return any(each.told for each in self.calls)

    @property
    def answers(self) -> bool:
        return any(each.answers for each in self.calls)

    @property
    def asked(self) -> set[tuple[int, ...]]:
        """The requests of each call, by their numbers."""
        return {tuple(r.number for r in each.requests) for each in self.calls}


def seen_functions(runs: Sequence[Run]) -> list[SeenFunction]:
    """Return the functions in which a model was asked, the likeliest episode first.

    Tests and the module level itself are none.
    """
    calls: dict[FunctionKey, list[Enclosing]] = {}
    depths: dict[FunctionKey, int] = {}
    for run in runs:
        for each, depth in _enclosing(run):
            calls.setdefault(each.call.key, []).append(each)
            depths[each.call.key] = min(depth, depths.get(each.call.key, depth))
    found = [
        SeenFunction(key, tuple(each), depths[key])
        for key, each in calls.items()
        if not (key[1] == MODULE_LEVEL or is_test(*key) or each[0].call.is_nested)
    ]
    outer = {each.key for each in found if each.runs_episodes and each.given}
    marked = (
        replace(each, is_inner=not outer.isdisjoint(_around(each))) for each in found
    )
    return sorted(marked, key=_rank)


def _around(function: SeenFunction) -> set[FunctionKey]:
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


def is_test(path: Path, function: str) -> bool:
    """True if pytest collects a function from its file."""
    name = path.name
    in_test = (
        name.startswith("test_") or name.endswith("_test.py") or name == "conftest.py"
    )
    return in_test or function.rpartition(".")[2].startswith("test_")


def _enclosing(run: Run) -> Iterator[tuple[Enclosing, int]]:
    conversations = conversations_of(run.requests)
    inside: dict[int, list[Request]] = {}
    for request in run.requests:
        for call in run.outward(request.around):
            inside.setdefault(call.number, []).append(request)
    for number, requests in inside.items():
        call = run.calls[number]
        numbers = {each.number for each in requests}
        whole = all(
            numbers.issuperset(conversation)
            for conversation in conversations
            if not numbers.isdisjoint(conversation)
        )
        before = [e for e in run.requests if e.number < requests[0].number]
        given = tuple(_asked_of(run, call, requests[0], before, whole=whole))
        told = any(_asked_of(run, call, requests[0], before, whole=False))
        depth = sum(1 for _ in run.outward(number))
        enclosing = Enclosing(
            run,
            call,
            tuple(requests),
            given,
            told,
            _answers(call, requests[-1]),
            whole,
            _is_part(call, before, run),
        )
        yield enclosing, depth


def conversations_of(requests: Sequence[Request]) -> list[set[int]]:
    """Group requests by conversation: one goes on where it holds what the model said before."""
    found: list[set[int]] = []
    for number, request in enumerate(requests):
        earlier = next(
            (e for e in reversed(requests[:number]) if goes_on(request, e)), None
        )
        if earlier is None:
            found.append({request.number})
        else:
            next(each for each in found if earlier.number in each).add(request.number)
    return found


def goes_on(request: Request, earlier: Request) -> bool:
    """True if a request goes on from an earlier one, in its conversation.

    It names the earlier response, answers a call of it, or holds what it said, which an agent
    may have cut. An agent may also ask again where the model said nothing.
    """
    if (
        earlier.id is not None
        and request.body.get("previous_response_id") == earlier.id
    ):
        return True
    said = identity(earlier.message)
    if not said:
        return request.messages == earlier.messages
    calls = {str(call.get("id")) for call in earlier.message.get("tool_calls") or ()}
    for each in request.messages:
        if str(each.get("tool_call_id") or each.get("call_id")) in calls:
            return True
        if each.get("role") == "assistant":
            own = identity(each)
            cut = len(own) >= TELLING and (own in said or said in own)
            if own == said or cut:
                return True
    return False


def identity(message: Json) -> str:
    """Return what identifies something that the model said: the ids of its calls, or its text."""
    calls = [str(call.get("id")) for call in message.get("tool_calls") or ()]
    return json.dumps(calls[:1]) if calls else text_of(message.get("content")).strip()


def text_of(content: Any) -> str:
    """Return the text of a message's content, whose parts may be several."""
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else ()
    return "".join(
        str(each.get("text") or "") for each in parts if isinstance(each, dict)
    )


def _asked_of(
    run: Run, call: Call, request: Request, before: Sequence[Request], *, whole: bool
) -> Iterator[str]:
    """Yield the parameters whose text is in what the first request asks anew.

    Those of the object's construction and set-up count as well, as ``add_task.text``. A
    conversation counts where it begins: an LLM helper is given one that goes on.
    """
    said = {json.dumps(message) for each in before for message in each.messages}
    asked = "\n".join(
        text_of(message.get("content"))
        for message in request.messages
        if message.get("role") != "assistant" and json.dumps(message) not in said
    )
    owner = run.objects.get(call.owner or 0)
    made = [owner.init, *owner.calls] if owner is not None else []
    for each in (call, *(each for each in made if each is not None)):
        prefix = "" if each is call else f"{each.function.rpartition('.')[2]}."
        for name, note in each.given.items():
            texts = texts_in(_plain(run, note), messages=whole)
            if any(text in asked for text in texts):
                yield prefix + name


def _plain(run: Run, note: Json, depth: int = 2) -> Any:
    """Return a value, or what an object of the project was made with, or its plain parts."""
    made = run.objects.get(note.get("object", 0))
    if made is not None and made.init is not None and depth:
        return [_plain(run, each, depth - 1) for each in made.init.given.values()]
    return note.get("value", note.get("parts"))


def texts_in(value: Any, *, messages: bool) -> Iterator[str]:
    """Yield the texts in a value; those of a conversation only with ``messages``.

    What the model said in one never counts.
    """
    if isinstance(value, str):
        if len(value.strip()) >= SHORTEST:
            yield value.strip()
    elif isinstance(value, dict):
        is_message = "role" in value and "content" in value
        if not is_message or (messages and value["role"] != "assistant"):
            for each in value.values():
                yield from texts_in(each, messages=messages)
    elif isinstance(value, list):
        for each in value:
            yield from texts_in(each, messages=messages)


def _answers(call: Call, last: Request) -> bool:
    """True if a call returned what the model said last, or a part of it; what yields may have."""
    said = text_of(last.message.get("content")).strip()
    if call.generates:
        return True
    value = call.returned.get("value", call.returned.get("parts"))
    returned = json.dumps(value, ensure_ascii=False)
    if len(said) >= SHORTEST and json.dumps(said, ensure_ascii=False)[1:-1] in returned:
        return True
    return any(text in said for text in texts_in(value, messages=True))


def _is_part(call: Call, before: Sequence[Request], run: Run) -> bool:
    """True if a call was given what the model had said within a call around it.

    What the model was told itself, as a question that it repeats, is not its own; nor is a
    conversation handed on that holds its answers as such.
    """
    given = [
        text
        for note in call.given.values()
        for text in texts_in(note.get("value"), messages=True)
    ]
    given = [text for text in given if len(text) >= TELLING]
    around = {each.number for each in run.outward(call.around)}
    for earlier in before if given else ():
        if around.isdisjoint(each.number for each in run.outward(earlier.around)):
            continue
        told = "\n".join(text_of(each.get("content")) for each in earlier.messages)
        for said in said_in(earlier.message):
            if len(said) >= TELLING and any(
                (said in text and said not in told)
                or (text in said and text not in told)
                for text in given
            ):
                return True
    return False


def said_in(message: Json) -> Iterator[str]:
    """Yield the texts that a model said: its content, and what it gave to tools."""
    yield text_of(message.get("content")).strip()
    for each in message.get("tool_calls") or ():
        with suppress(TypeError, ValueError, KeyError):
            yield from texts_in(
                json.loads(each["function"]["arguments"]), messages=True
            )
