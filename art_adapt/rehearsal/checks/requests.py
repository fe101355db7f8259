"""Check the requests to the model in training: its name, its caller, the sampling."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator
from difflib import get_close_matches

from art_adapt.closed_models import CLOSED_REMEDY, is_closed
from art_adapt.rehearsal.environment import files_of
from art_adapt.rehearsal.parts import EPISODE, calls, passes, sets
from art_adapt.rehearsal.replies import is_judgement
from art_adapt.rehearsal.seen import Finding, Seen, Witness, waiting
from art_adapt.scenarios.declared import constant
from art_adapt.survey.calls.completion_calls import find_completion_calls


def inference_name(seen: Seen) -> Iterator[Finding]:
    """Report requests for a model that is not served."""
    wrong = Counter(
        str(e.request.get("model"))
        for e in seen.log
        if e.is_policy and e.status == 404 and not is_judgement(e.request)
    )
    if wrong:
        name, count = wrong.most_common(1)[0]
        served = seen.notes.names[-1:]  # none before the model is registered
        yield seen.finding(
            "inference name",
            f"{count} requests asked for the model {name!r}, which is not served "
            f"(the current name is {served[0]!r})"
            if served
            else f"{count} requests asked for the model {name!r} before it was served",
            "call model.get_inference_name() in each rollout, because the name changes with "
            "every step",
            _names_a_model,
            calls("get_inference_name"),
        )


def _names_a_model(node: ast.AST) -> bool:
    """True for ``model=`` with a name that the train module did not ask ART for."""
    return passes("model")(node) and not any(
        map(calls("get_inference_name"), ast.walk(node))
    )


def base_model(seen: Seen) -> Iterator[Finding]:
    """Report a base model that nobody but its maker can train."""
    if is_closed(seen.notes.base_model):
        yield seen.finding(
            "base model",
            f"{seen.notes.base_model} cannot be trained: only its maker has its weights",
            CLOSED_REMEDY,
            sets("BASE_MODEL"),
            passes("base_model"),
        )


def judge(seen: Seen) -> Iterator[Finding]:
    """Report a RULER judge that is the model in training."""
    asked = [e for e in seen.log if e.is_policy and is_judgement(e.request)]
    if asked:
        yield seen.finding(
            "judge",
            f"RULER uses the model in training as its judge ({len(asked)} requests)",
            "name another model as the judge: a model that judges itself learns to "
            "praise itself",
            sets("JUDGE_MODEL"),
            passes("judge_model"),
        )


def auxiliary(seen: Seen) -> Iterator[Finding]:
    """Report names in AUXILIARY whose requests are trained all the same, or that nothing has."""
    recorded = waiting(seen)
    functions = {
        name
        for syntax in files_of(seen.path)
        for function in (*syntax.functions, *syntax.classes)
        for name in (function, function.rpartition(".")[2])
    }
    models = {str(each.request.get("model")) for each in seen.log}
    left_out = {
        call.function
        for syntax in files_of(seen.path)
        for call in find_completion_calls(syntax)
        if not call.recorded
    }
    for name in _named_auxiliary(seen):
        if name in recorded and name not in left_out:
            yield seen.finding(
                "auxiliary",
                f"AUXILIARY names {name}, and what is asked there is trained all the same, because "
                "its calls have hooks",
                f"adapt the agent again with --auxiliary {name}",
                sets("AUXILIARY"),
            )
        elif name.isidentifier() and name not in functions | models:
            near = get_close_matches(name, functions, 1)
            yield seen.finding(
                "auxiliary",
                f"AUXILIARY names {name}, and the agent has no such function and asks no such model",
                f"do you mean {near[0]}?" if near else "correct the name, or remove it",
                sets("AUXILIARY"),
            )


def _named_auxiliary(seen: Seen) -> list[str]:
    """Return the names in a train module's AUXILIARY, unless a framework's agents may be meant."""
    if any(map(passes("every_client"), seen.syntax.nodes)):
        return []
    return [
        each for each in constant(seen.path, "AUXILIARY") or () if isinstance(each, str)
    ]


def temperature(seen: Seen) -> Iterator[Finding]:
    """Report sampling at a temperature other than 1."""
    odd = Counter(
        e.request.get("temperature")
        for e in seen.policy
        if e.request.get("temperature") not in (None, 1, 1.0)
    )
    if odd:
        value, count = odd.most_common(1)[0]
        yield seen.finding(
            "temperature",
            f"{count} completions were sampled with temperature {value}: "
            + (
                "identical episodes get identical rewards, so nothing is learned"
                if value == 0
                else "ART computes logprobs at temperature 1"
            ),
            "sample at temperature 1 while training: set TEMPERATURE = 1.0",
            sets("TEMPERATURE"),
            passes("temperature"),
        )


def empty_tools(seen: Seen) -> Iterator[Finding]:
    """Report requests with an empty list of tools, where no request has any.

    OpenAI's API refuses such a list. An agent that empties it for one stage, at another
    provider, does so on purpose.
    """
    asked = [e.request for e in seen.policy if not is_judgement(e.request)]
    empty = [request for request in asked if request.get("tools") == []]
    if empty and not any(request.get("tools") for request in asked):
        yield seen.finding(
            "no tools",
            f"{len(empty)} of {len(asked)} requests have an empty list of tools: the model "
            "would learn to work without tools",
            "give the agent its tools in episode(), or in the rows if they belong to a "
            "scenario",
            seen.asks,
            passes("tools"),
            EPISODE,
        )


def witnesses(seen: Seen) -> Iterator[Witness]:
    """Yield what the agent's own requests say that training does otherwise."""
    yield from _models(seen)
    yield from _lengths(seen)
    yield from _choices(seen)


def _models(seen: Seen) -> Iterator[Witness]:
    """Yield that an episode asks for several models, if one does: all of them are trained."""
    named = max((each.models for each in seen.notes.rollouts), key=len, default=())
    if len(named) > 1:
        yield Witness(
            "each episode asks for one model",
            False,
            f"an episode asks for {' and '.join(named)}: the turns of all are trained, with one "
            "reward; if one is an opponent or a judge, put its name in AUXILIARY",
        )


def _lengths(seen: Seen) -> Iterator[Witness]:
    """Yield that the agent allows longer replies than training does, if it says so."""
    longest = max((each.longest for each in seen.notes.rollouts), default=0)
    if seen.notes.bounds is not None and longest > seen.notes.bounds.reply_tokens:
        yield Witness(
            "replies may be as long as the agent allows",
            False,
            f"the agent allows replies of {longest} tokens, and MAX_COMPLETION_TOKENS cuts them off "
            f"at {seen.notes.bounds.reply_tokens}: raise it if such replies are right",
        )


def _choices(seen: Seen) -> Iterator[Witness]:
    """Yield that the agent samples several replies to one request, if it does."""
    asked = (e.request.get("n") for e in seen.policy if not is_judgement(e.request))
    several = Counter(n for n in asked if isinstance(n, int) and n > 1)
    if several:
        n, count = several.most_common(1)[0]
        yield Witness(
            "each request samples one reply",
            False,
            f"{count} requests sample {n} replies each (n={n}), and all are trained with the reward of "
            "the episode; if the agent goes on with one of them, ask for one",
        )
