"""Tell from runs which completion calls do a side job.

A call is no turn of the agent if every request of it was made outside the episodes, or while a
tool of the conversation ran. A call that carries a conversation of its own, over several turns or
with tools, is left to reading, because a sub-agent and a simulated user look alike in a run.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise

from art_adapt.code.syntax import MODULE_LEVEL
from art_adapt.seen.conversations import conversations_of
from art_adapt.seen.decision import Seen
from art_adapt.seen.episodes import Enclosing
from art_adapt.seen.notes import FunctionKey, Request, Run
from art_adapt.settings import Options, Origin
from art_adapt.source import Place
from art_adapt.survey.calls.asides import Asker
from art_adapt.survey.calls.roles import Role
from art_adapt.survey.calls.said import NAMED
from art_adapt.survey.model import CompletionCall, Survey

OUTSIDE = "seen in a run: no episode makes this call"
IN_TOOL = "seen in a run: a tool makes this call while the conversation waits"


def with_seen_roles(
    survey: Survey, options: Options, seen: Seen | None
) -> tuple[Survey, Options]:
    """Return the survey and the options with the calls that runs show as side jobs.

    A flag or an earlier run that names calls of either role overrules a run. If nothing would be
    left to train, reading decides. Each call asks the model that all its requests named.
    """
    if seen is not None:
        survey = _with_models(survey, seen)
        survey = _with_other_models(survey, seen)
        survey = _with_several_models(survey, seen)
    origins = {options.origin("auxiliary"), options.origin("policy")}
    is_said = not origins <= {Origin.DEFAULT, Origin.SEEN}
    found = {} if seen is None or is_said else _side_jobs(survey, seen)
    policy = [call for call in survey.calls if call.role is Role.POLICY]
    if not found or all(call in found for call in policy):
        return survey, options
    survey = _replaced(survey, lambda call: _as_seen(call, found))
    names = tuple(
        f"{call.place.path.as_posix()}:{call.place.line}"
        for call in found
        if call in policy
    )
    if names:
        seen_in = {**options.origins, "auxiliary": Origin.SEEN}
        options = replace(options, auxiliary=names, origins=seen_in)
    return survey, options


def _with_models(survey: Survey, seen: Seen) -> Survey:
    """Return the survey in which calls ask the model that a run has seen, or else the code's.

    Those that no run has asked are marked.
    """
    named: dict[CompletionCall, set[str]] = {}
    for request in (each for run in seen.runs for each in run.requests):
        call = _call_of(request, survey.calls)
        name = request.body.get("model")
        if call is not None and isinstance(name, str):
            named.setdefault(call, set()).add(name)
    asks = {call: min(names) for call, names in named.items() if len(names) == 1}

    def described(call: CompletionCall) -> CompletionCall:
        asked = asks.get(call) or call.asks
        return replace(call, asks=asked, unasked=bool(named) and call not in named)

    return _replaced(survey, described)


def _with_other_models(survey: Survey, seen: Seen) -> Survey:
    """Return the survey with the functions that asked another model than the conversation.

    Whether that is trained all the same, only the user knows.
    """
    of_turns: set[FunctionKey] = set()
    aside: list[tuple[Run, Request]] = []
    for each in seen.function.calls if seen.function is not None else ():
        turns, model = _turns_of(each)
        for request in each.requests:
            if request.number in turns or request.body.get("model") in (None, model):
                of_turns |= {c.key for c in each.run.outward(request.around)}
            elif model is not None:
                aside.append((each.run, request))
    beside: dict[CompletionCall, dict[str, Asker | None]] = {}
    for run, request in aside:
        made = _call_of(request, survey.calls)
        if made is None:
            continue
        asker = _asker(run, request, made, of_turns)
        if asker is not None:
            is_itself = asker.function == made.function
            found = beside.setdefault(made, {})
            found[asker.function] = None if is_itself else asker
    return _replaced(survey, lambda call: _asked_beside_turns(call, survey, beside))


def _with_several_models(survey: Survey, seen: Seen) -> Survey:
    """Return the survey with the calls that asked several models in one episode.

    That is a game against another model: all moves would be trained. What a run has asked
    decides, and not what reading takes to be possible.
    """
    several: dict[CompletionCall, tuple[str, ...]] = {}
    for episode in seen.function.calls if seen.function is not None else ():
        asked: dict[CompletionCall, dict[str, None]] = {}
        for request in episode.requests:
            call, model = _call_of(request, survey.calls), request.body.get("model")
            if call is None or not isinstance(model, str):
                continue
            waiting = {each.key[1] for each in episode.run.outward(request.around)}
            if waiting.isdisjoint(aside.function for aside in call.asides):
                asked.setdefault(call, {})[model] = None
        for call, models in asked.items():
            both = tuple(dict.fromkeys((*several.get(call, ()), *models)))
            several[call] = both if len(models) > 1 else several.get(call, ())

    def described(call: CompletionCall) -> CompletionCall:
        found = replace(call, several=several.get(call, call.several))
        # Its usual model is not trained, but others that it asks are.
        is_whole = call.reason == f"{NAMED} --auxiliary {call.asks}"
        return replace(found, role=Role.POLICY) if found.several and is_whole else found

    return _replaced(survey, described)


def _asker(
    run: Run, request: Request, made: CompletionCall, of_turns: set[FunctionKey]
) -> Asker | None:
    """Return the outermost function around a request that is around no turn of the agent."""
    site, asker = request.site, None
    for call in run.outward(request.around):
        if call.key not in of_turns and call.function != MODULE_LEVEL:
            place = Place(site.path, site.line) if site else made.place
            model = str(request.body["model"])
            asker = Asker(call.key[1], place, apart=True, model=model, asks=model)
        site = call.site
    return asker


def _turns_of(episode: Enclosing) -> tuple[set[int], str | None]:
    """Return the requests of an episode's longest conversation, and the one model that they name.

    Without a conversation of several turns no request is more the agent's than another.
    """
    by_number = {request.number: request for request in episode.requests}
    longest = max(conversations_of(episode.requests), key=len)
    models = {by_number[number].body.get("model") for number in longest}
    is_one = len(longest) > 1 and len(models) == 1
    return longest, models.pop() if is_one else None


def _asked_beside_turns(
    call: CompletionCall,
    survey: Survey,
    beside: Mapping[CompletionCall, Mapping[str, Asker | None]],
) -> CompletionCall:
    found = beside.get(call, {})
    known = {asker.function for asker in call.askers if asker.reason or asker.model}
    said = [
        survey.said.of_asker(e) for name, e in found.items() if e and name not in known
    ]
    told = {asker.function for asker in said}
    others = [asker for asker in call.askers if asker.function not in told]
    is_itself = call.role is Role.POLICY and call.function in found
    return replace(call, askers=(*others, *said), asked_other=is_itself)


def _replaced(
    survey: Survey, described: Callable[[CompletionCall], CompletionCall]
) -> Survey:
    files = tuple(
        replace(file, calls=tuple(map(described, file.calls))) for file in survey.files
    )
    return replace(survey, files=files)


def _as_seen(
    call: CompletionCall, found: Mapping[CompletionCall, str]
) -> CompletionCall:
    if call not in found:
        return call
    return replace(call, role=Role.AUXILIARY, reason=found[call])


def _side_jobs(survey: Survey, seen: Seen) -> dict[CompletionCall, str]:
    """Return the calls of which every request was one of a side job, each with the reason."""
    reasons: dict[CompletionCall, set[str | None]] = {}
    for run in seen.runs:
        asked = dict(_asked_beside(run, seen))
        for request in run.requests if asked else ():
            call = _call_of(request, survey.calls)
            if call is not None:
                reasons.setdefault(call, set()).add(asked[request.number])
    return {
        call: IN_TOOL if IN_TOOL in why else OUTSIDE
        for call, why in reasons.items()
        if None not in why
    }


def _asked_beside(run: Run, seen: Seen) -> Iterator[tuple[int, str | None]]:
    """Yield each request of a run, by its number, with why it is no turn of the agent.

    None stands for a turn. Nothing is yielded if the run shows no episode.
    """
    calls = seen.function.calls if seen.function is not None else ()
    episodes = [each.requests for each in calls if each.run is run]
    if not episodes:
        return
    beside: dict[int, str | None] = dict.fromkeys(
        (request.number for request in run.requests), OUTSIDE
    )
    for requests in episodes:
        beside |= dict.fromkeys((request.number for request in requests), None)
        beside |= dict.fromkeys(_asked_by_tools(requests), IN_TOOL)
    yield from beside.items()


def _asked_by_tools(requests: Sequence[Request]) -> Iterator[int]:
    """Yield single requests without tools that came while a conversation's tool call was open."""
    conversations = conversations_of(requests)
    by_number = {request.number: request for request in requests}
    alone = {
        number
        for conversation in conversations
        for number in conversation
        if len(conversation) == 1 and not by_number[number].body.get("tools")
    }
    for conversation in conversations:
        for asked, answered in pairwise(sorted(conversation)):
            if by_number[asked].message.get("tool_calls"):
                yield from (each for each in alone if asked < each < answered)


def _call_of(
    request: Request, calls: Sequence[CompletionCall]
) -> CompletionCall | None:
    """Return the completion call that a request came from; None if that cannot be told."""
    site = request.site
    if site is None:
        return None
    found = [
        call
        for call in calls
        if os.path.realpath(call.place.path) == str(site.path)
        and call.function == site.function
    ]
    at_line = [
        call
        for call in found
        if (span := call.around or call.span).line <= site.line <= span.end_line
    ]
    return next(iter(at_line or (found if len(found) == 1 else ())), None)
