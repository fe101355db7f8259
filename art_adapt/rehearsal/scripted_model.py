"""Serve the scripted model on loopback, with vLLM's token ids and logprobs, and a log.

Requests with ``POLICY_KEY`` are for the model in training; those with other keys are for
judges and whatever else the agent calls.
"""

from __future__ import annotations

import json
import threading
import time
import zlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from typing import Any, Self

from art_adapt.recording.responses.conversations import Conversations
from art_adapt.rehearsal import repeats
from art_adapt.rehearsal.completions import EMBEDDINGS, answer
from art_adapt.rehearsal.embeddings import embedded_in
from art_adapt.rehearsal.endpoint import Answer, Endpoint, Request, as_json
from art_adapt.rehearsal.heard import Heard
from art_adapt.rehearsal.replayed import Replay, episode_of
from art_adapt.rehearsal.replies import (
    CALLING,
    REFUSING,
    RELIABLE,
    UNENDING,
    Faults,
    Reply,
    Scripted,
    reply_to,
)
from art_adapt.seen.notes import Run

Json = dict[str, Any]

POLICY_KEY = "rehearsal-policy"
PRODUCTION_KEY = "sk-rehearsal-production"  # some agents look whether it begins so
LATENCY = (0.002, 0.02)  # seconds


@dataclass(frozen=True)
class Exchange:
    """One request and its answer; ``response`` is None if it failed with ``status``."""

    serial: int  # from 1, in the order in which requests came
    is_policy: bool
    request: Json
    status: int
    response: Json | None
    fault: str = ""  # what the model did wrong on purpose
    phase: str = ""  # of ``repeats``, beside the steps
    replayed: int = 0  # the request of a run whose reply it got, from 1; 0: none


class ScriptedModel:
    """A server of the scripted model at ``url``, with its exchanges in ``log``.

    Those of repeated episodes are in ``repeats`` instead; ``embedded`` are the requests for
    embeddings.
    """

    def __init__(
        self,
        seed: int,
        rows: Sequence[Scripted],
        favourite: str | None = None,
        runs: Sequence[Run] = (),
    ) -> None:
        """Make the server.

        RULER's judge prefers ``favourite``, or scores at random. An episode that is run alone is
        told what the model said in the one of ``runs`` that its scenario comes from. Where models
        answered JSON in those, others get such as well.
        """
        self.log: list[Exchange] = []
        self.repeats: list[Exchange] = []
        self.embedded: list[Json] = []
        self.served: tuple[str, ...] = ()  # names of the model in training
        self.broken: Exception | None = None  # the first of its own exceptions
        self._seed = seed
        self._rows = rows
        self._favourite = favourite
        self._runs = runs
        self._heard = Heard.of(runs)
        self._embedded = embedded_in(runs)
        self._replay: Replay | None = None
        self._lock = threading.Lock()
        self._asked: Counter[str] = Counter()
        self._serial = 0
        self._phase = ""
        self._ending: set[str] = (
            set()
        )  # tools that a model does not call that never ends
        self._conversations = Conversations()
        self._endpoint = Endpoint(self._answer, is_secret=True)
        self.url = self._endpoint.url

    def __enter__(self) -> Self:
        self._endpoint.__enter__()
        return self

    def __exit__(self, *exception: object) -> None:
        self._endpoint.__exit__(*exception)

    def _answer(self, request: Request) -> Answer:
        if request.path == "/served":  # the backend tells the model's names
            self.served = tuple(request.content["names"])
            return as_json(200, {})
        if request.path == "/judged":  # what is asked now, the reward function asks
            self._phase, self._replay = repeats.JUDGED if self._phase else "", None
            return as_json(200, {})
        if request.path == "/phase":
            return as_json(200, {"replays": self._begin(**request.content)})
        if request.path.endswith(EMBEDDINGS) and not self._phase:
            self.embedded.append(request.content)
        try:
            return answer(request, self._complete, self._conversations, self._embedded)
        except Exception as error:
            self.broken = self.broken or error
            what = f"the scripted model failed: {type(error).__name__}"
            return as_json(400, {"error": {"message": what, "type": "scripted"}})

    def _begin(self, phase: str, scenario: Any = None) -> bool:
        """Begin a phase; return whether its scenario comes from a run whose replies it gets."""
        found = episode_of(scenario, self._runs)
        self._phase = phase
        self._ending = _unanswered(self.log) if phase == repeats.UNENDING else set()
        self._replay = Replay(found) if found else None
        return found is not None

    def _complete(self, key: str, request: Json) -> tuple[int, Json]:
        """Return the status and body for one request, and log it."""
        # The same request gets the same replies in every rehearsal, in whatever order
        # the rollouts come to make it.
        asked = json.dumps(request)
        with self._lock:
            phase = self._phase
            self._asked[asked] += 1
            self._serial += 1
            serial = self._serial
            nth = self._asked[asked]
            if phase:  # the model's name has its step
                nth, asked = 0, json.dumps({**request, "model": ""})
            said = f"{self._seed} {nth} {asked}"
            known = self._replay.reply(request) if self._replay is not None else None
        number = zlib.crc32(said.encode())
        is_policy = key == POLICY_KEY
        random = Random(said)
        status, response, fault, replayed = 200, None, "", 0
        if is_policy and request.get("model") not in self.served:
            status = 404
        elif is_policy and phase == repeats.REFUSING and self._is_over(phase):
            status = 400  # which the SDK does not try again
        else:
            # What the model in training may do wrong, those beside it do not.
            faults = self._faults(phase) if is_policy else RELIABLE
            rows, favourite = self._rows, self._favourite
            replayed, reply = known or (
                0,
                reply_to(
                    _without(self._ending, request),
                    rows,
                    random,
                    number,
                    favourite,
                    faults,
                    self._seed,
                    self._heard,
                ),
            )
            fault = reply.fault
            if not phase:
                time.sleep(random.uniform(*LATENCY))
            if reply.error is not None:
                status = reply.error
            else:
                response = _completion(request, reply, number, serial)
        with self._lock:
            (self.repeats if phase else self.log).append(
                Exchange(
                    serial,
                    is_policy,
                    request,
                    status,
                    response,
                    fault,
                    phase,
                    replayed,
                )
            )
        if response is not None:
            return 200, response
        message = (
            f"The model `{request.get('model')}` does not exist."
            if status == 404
            else "scripted failure"
        )
        return status, {"error": {"message": message, "type": "scripted"}}

    def _faults(self, phase: str) -> Faults:
        if not phase:
            return Faults()
        if phase == repeats.REFUSING:
            return REFUSING
        if phase != repeats.UNENDING:
            return CALLING
        return RELIABLE if self._is_over(phase) else UNENDING

    def _is_over(self, phase: str) -> bool:
        """True if an episode has made all requests that it may."""
        asked = sum(each.is_policy and each.phase == phase for each in self.repeats)
        return asked >= repeats.MOST_REQUESTS


def _unanswered(log: Sequence[Exchange]) -> set[str]:
    """Return the tools that were called and none of whose calls has a reply: they end an episode."""
    called = {
        call["id"]: call["function"]["name"]
        for exchange in log
        for choice in (exchange.response or {}).get("choices", ())
        for call in choice["message"].get("tool_calls") or ()
    }
    answered = {
        called.get(message.get("tool_call_id"))
        for exchange in log
        for message in exchange.request.get("messages") or ()
        if message.get("role") == "tool"
    }
    return set(called.values()) - answered


def _without(names: set[str], request: Json) -> Json:
    """Return a request without the tools of these names, unless it has no others."""
    tools = request.get("tools") or ()
    others = [t for t in tools if t.get("function", t).get("name") not in names]
    return {**request, "tools": others} if others else request


# ------------------------------------------------------------------------------- tokens


def _word_ids(text: str) -> list[int]:
    return [zlib.crc32(word.encode()) % 90_000 for word in text.split(" ")]


def _said(message: Json) -> list[int]:
    """Tokenize an assistant's turn, with its end."""
    ids = _word_ids(message.get("content") or "") if message.get("content") else []
    for call in message.get("tool_calls") or []:
        function = call["function"]
        ids += _word_ids(f"<call> {function['name']} {_canonical(function)}")
    return [*ids, 1]


def _canonical(function: Json) -> str:
    """Spell arguments as a chat template does, to which they are data."""
    try:
        return json.dumps(json.loads(function["arguments"]))
    except (TypeError, ValueError):
        return str(function["arguments"])


def prompt_ids(request: Json) -> list[int]:
    """Tokenize a request, so that it continues what was sampled if that is unchanged."""
    ids = _word_ids(json.dumps(request.get("tools"))) if request.get("tools") else []
    for message in request["messages"]:
        if message["role"] == "assistant":
            ids += [2, *_said(message)]
        else:
            ids += [
                3,
                *_word_ids(json.dumps([message["role"], message.get("content")])),
            ]
    return [*ids, 2]


# -------------------------------------------------------------------------- the answers


def mark(serial: int, index: int) -> int:
    """Number a choice; its first token's logprob carries the number, in millionths."""
    return serial * 16 + index


def _completion(request: Json, reply: Reply, number: int, serial: int) -> Json:
    choices = [
        _choice(request, reply, number, serial, at)
        for at in range(request.get("n") or 1)
    ]
    prompt = prompt_ids(request)
    sampled = sum(len(_said(choice["message"])) for choice in choices)
    completion: Json = {
        "id": f"chatcmpl-{number}",
        "object": "chat.completion",
        "created": int(time.time()),
        "model": request.get("model"),
        "choices": choices,
        "usage": {
            "prompt_tokens": len(prompt),
            "completion_tokens": sampled,
            "total_tokens": len(prompt) + sampled,
        },
    }
    if request.get("return_token_ids"):
        completion["prompt_token_ids"] = prompt
    return completion


def _choice(request: Json, reply: Reply, number: int, serial: int, index: int) -> Json:
    message: Json = {"role": "assistant", "content": reply.content}
    if reply.tool_calls:
        message["tool_calls"] = [
            {
                "id": f"call_{number}_{index}_{at}",
                "type": "function",
                "function": {"name": name, "arguments": arguments},
            }
            for at, (name, arguments) in enumerate(reply.tool_calls)
        ]
    ids = _said(message)
    choice: Json = {
        "index": index,
        "message": message,
        "finish_reason": reply.finish_reason,
        "logprobs": None,
    }
    if request.get("logprobs"):
        tokens: list[Json] = [
            {
                "token": f"token_id:{id_}",
                "logprob": -1.0,
                "bytes": [],
                "top_logprobs": [],
            }
            for id_ in ids
        ]
        tokens[0]["logprob"] = -mark(serial, index) / 1e6
        choice["logprobs"] = {"content": tokens, "refusal": None}
    if request.get("return_token_ids"):
        choice["token_ids"] = ids
    return choice
