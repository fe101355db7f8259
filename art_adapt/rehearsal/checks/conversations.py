"""Check the conversations that were sent: what an engine would not read, or ART not train."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

from art_adapt.conversation_signs import (
    REASONING_PARSER,
    TOOL_PARSER,
    calls_without_reply,
    media,
    replies_without_call,
    unread_call,
    unread_thinking,
)
from art_adapt.rehearsal.parts import EPISODE, calls, sets
from art_adapt.rehearsal.reopened import DROPS, FORGETS, OWN, reopened
from art_adapt.rehearsal.replies import is_judgement
from art_adapt.rehearsal.scripted_model import Exchange
from art_adapt.rehearsal.seen import FEW, Finding, Seen

Json = dict[str, Any]


def not_text(seen: Seen) -> Iterator[Finding]:
    """Report images, sound and files in requests: ART trains on text."""
    kinds = Counter(kind for each in _asked(seen) for kind in set(media(_sent(each))))
    if kinds:
        kind, count = kinds.most_common(1)[0]
        yield seen.finding(
            "not text",
            f"{count} of {len(_asked(seen))} requests contain a part of type {kind}: ART trains on "
            "text only, and ART 0.5.18 cannot log such messages (model.log raises ArrowTypeError)",
            "send the model text instead (a description, the recognised text), or train "
            "an agent that sends text only",
            seen.asks,
            EPISODE,
        )


def paired(seen: Seen) -> Iterator[Finding]:
    """Report tool messages without their call, and calls that nothing answers."""
    asked = _asked(seen)
    alone = [each for each in asked if replies_without_call(_sent(each))]
    if alone:
        yield seen.finding(
            "reply without a call",
            f"{len(alone)} of {len(asked)} requests contain a tool message without the call that it "
            "answers: OpenAI's API rejects them, and vLLM renders them unchanged",
            "when the agent shortens its messages, keep each call and its replies together",
            seen.asks,
            EPISODE,
        )
    open_calls = [each for each in asked if calls_without_reply(_sent(each))]
    if FEW * len(open_calls) > len(asked):
        yield seen.finding(
            "call without a reply",
            f"{len(open_calls)} of {len(asked)} requests contain a tool call without a reply: "
            "OpenAI's API rejects them, and vLLM renders them unchanged",
            "answer every call with a tool message, even when the tool failed",
            seen.agent.answers_tools,
            seen.asks,
            EPISODE,
        )


def parsed(seen: Seen) -> Iterator[Finding]:
    """Report completions whose tool calls or thinking stand in their content."""
    given = [
        (exchange, choice["message"].get("content"))
        for exchange in _asked(seen)
        for choice in (exchange.response or {})["choices"]
    ]
    called = [
        mark
        for exchange, content in given
        if exchange.request.get("tools")
        and (mark := unread_call(content, _sent(exchange)))
    ]
    if FEW * len(called) > len(given):
        yield seen.finding(
            "unread calls",
            f"{len(called)} of {len(given)} completions contain a tool call as text, with {called[0]}: "
            "the agent takes it for an answer, and no tool runs",
            f"make vLLM parse it: {TOOL_PARSER}; art-adapt doctor names the parser",
            calls("server_settings"),
            EPISODE,
        )
    thought = sum(
        unread_thinking(text, _sent(each)) is not None for each, text in given
    )
    if FEW * thought > len(given):
        yield seen.finding(
            "thinking in the content",
            f"{thought} of {len(given)} completions contain their thinking as text: it becomes part "
            "of the answer and of later requests",
            f"make vLLM remove it: {REASONING_PARSER}; or "
            "train a model that does not think",
            calls("server_settings"),
            EPISODE,
        )


def own_template(seen: Seen) -> Iterator[Finding]:
    """Report requests with a chat template of their own."""
    own = [each for each in _asked(seen) if each.request.get("chat_template")]
    if own:
        yield seen.finding(
            "chat template",
            f"{len(own)} requests set their own chat_template: ART 0.5.18 tokenizes with the "
            "model's template, so it would train on other tokens than were sampled",
            "remove chat_template from the request",
            seen.asks,
            EPISODE,
        )


def continued(seen: Seen) -> Iterator[Finding]:
    """Report episodes in which nearly every turn opens a history of its own.

    A further history holds what the model said in an earlier one: the messages before were
    shortened or edited.
    """
    later = sum(max(0, len(each.choices) - 1) for each in seen.episodes)
    found = [each for episode in seen.episodes for each in reopened(episode)]
    remedies = {
        OWN: "only append to the messages, and do not change those already sent; shorten them only "
        "when the context is full",
        DROPS: "send the system message in every request; previous_response_id does not carry "
        "instructions over, so pass instructions= each time",
        FORGETS: "append each reply to the messages, so that the agent remembers what it said",
    }
    as_it_came = "append the reply as it came: message, message.content, or all of response.output"
    if not later or 2 * len(found) <= later:
        return
    cause, _ = Counter(each.cause for each in found).most_common(1)[0]
    instance = next(each.instance for each in found if each.cause == cause)
    yield seen.finding(
        "history a turn",
        f"{len(found)} of {later} later turns start a new history, because the agent {cause} "
        f"({instance}): each is trained separately, with its whole prompt",
        remedies.get(cause, as_it_came),
        seen.asks,
        EPISODE,
    )


def said_by_others(seen: Seen) -> Iterator[Finding]:
    """Report tool calls in the agent's conversation that another model made."""
    others = {
        str(call["id"])
        for exchange in seen.log
        if not exchange.is_policy and exchange.response is not None
        for choice in exchange.response["choices"]
        for call in choice["message"].get("tool_calls") or ()
    }
    taken = {
        str(call.get("id"))
        for exchange in _asked(seen)
        for message in _sent(exchange)
        for call in message.get("tool_calls") or ()
    } & others
    if taken:
        yield seen.finding(
            "side job",
            f"{len(taken)} tool calls in the agent's conversation come from an auxiliary call: "
            "these turns are not trained",
            "if the model in training should make these calls, remove their function from "
            "AUXILIARY",
            sets("AUXILIARY"),
            EPISODE,
        )


def _asked(seen: Seen) -> list[Exchange]:
    return [each for each in seen.policy if not is_judgement(each.request)]


def _sent(exchange: Exchange) -> list[Json]:
    messages: list[Json] = exchange.request.get("messages") or []
    return messages
