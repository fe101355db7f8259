"""One episode: its calls go to the model in training, their completions are recorded."""

from __future__ import annotations

import asyncio
import contextvars
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from art_adapt.recording.callees import asks_itself, find_callee
from art_adapt.recording.callees.callee import Callee
from art_adapt.recording.clients import connected_client, sdk_headers
from art_adapt.recording.functions import are_asked_for
from art_adapt.recording.histories import Request
from art_adapt.recording.messages import plain
from art_adapt.recording.recorder import Recorder
from art_adapt.recording.replayed import Detour, chat_detour, response_detour
from art_adapt.recording.requests import (
    SAMPLING,
    SAMPLING_ARGUMENTS,
    for_any_engine,
    whole_body,
    with_most_tokens,
)
from art_adapt.recording.responses import Conversations, Untranslatable
from art_adapt.recording.state import say_once, stop
from art_adapt.recording.unhooked import MISSED, Asked, options_of

ATTEMPTS = 3  # of a request that the endpoint has failed to answer
FIRST_PAUSE = 0.5  # seconds, as the SDK begins (openai 2.14, _constants.py)
CONNECTING = 10.0  # seconds for a connection
SHORTEST = 0.05  # seconds: a timeout of 0 would mean none
NOT_AGAIN = (401, 403, 404)  # keys, rights and names are not put right by waiting
_asking: contextvars.ContextVar[str] = contextvars.ContextVar("art_asking", default="")


@contextmanager
def _asked_by(function: str) -> Iterator[None]:
    token = _asking.set(function)
    try:
        yield
    finally:
        _asking.reset(token)


class Rollout(Recorder):
    """Record every policy call made in a ``with`` block on an ``art.Trajectory``.

    ``base_url``, ``api_key`` and ``model`` name the model in training (ART:
    ``model.inference_base_url``, ``model.inference_api_key``,
    ``model.get_inference_name()``). ``temperature``: sample with it, and with nothing
    else (``top_p``, penalties, a seed), whatever the agent asks for. ``max_tokens``
    bounds each completion, unless the agent asks for fewer; ``timeout`` is the time that
    all requests have together, in seconds, in the place of the agent's own timeouts and
    retries. ``every_client``: record what any client of the openai SDK asks, also without
    a hook, as frameworks do. ``auxiliary``: functions whose requests without a hook,
    and models whose requests, are not the policy's: they are made as they are. Any other request
    without a hook that asks for a completion warns, once for each place, and raises if
    this is ``strict``. ``template``: arguments of the chat template that each request has
    beside its own (vLLM's ``chat_template_kwargs``). Works around sync and async code; tasks started inside inherit
    it, threads do if their function is ``carried``.

    Raises ``RecordingError`` at its end if the recorder had to stop a call, even where
    the agent has swallowed the error: such an episode is not what the model would do.
    """

    def __init__(
        self,
        trajectory: Any,
        *,
        base_url: str,
        api_key: str,
        model: str,
        temperature: float | None = None,
        max_tokens: int | None = None,
        timeout: float | None = None,
        every_client: bool = False,
        auxiliary: Sequence[str] = (),
        strict: bool = False,
        template: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(
            trajectory, every_client=every_client, auxiliary=auxiliary, strict=strict
        )
        self.base_url = base_url
        self.api_key = api_key
        self.model = model
        self.temperature = temperature
        self.max_tokens = max_tokens
        self.template = template
        self.deadline = None if timeout is None else time.monotonic() + timeout
        self._clients: dict[Any, Any] = {}
        self.unhooked: list[Asked] = []  # requests that should have a hook
        self._conversations = Conversations()  # of the Responses API

    def close(self) -> None:
        """End the rollout, and let go of its clients."""
        super().close()
        self._clients.clear()

    def call(
        self,
        create: Callable[..., Any],
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        asking: str = "",
    ) -> Any:
        """Make the call of ``create`` on the model in training.

        ``asking`` is the function that makes it.
        """
        self.must_be_open()
        if asks_itself(create):
            return create(*args, **kwargs)
        call = find_callee(create)
        if call.is_async and not call.is_late:
            return self._call_async(call, args, kwargs, asking)
        client = self._client(
            call.options, asyncio.get_running_loop() if call.is_async else None
        )
        if call.is_late:
            client = client.copy()
            client.recording, client.asking = self, asking
        with _asked_by(asking):
            return call.on(client)(*args, **kwargs)

    async def _call_async(
        self,
        call: Callee,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        asking: str,
    ) -> Any:
        """Make the call on a client of the loop that it is awaited in."""
        client = self._client(call.options, asyncio.get_running_loop())
        with _asked_by(asking):
            return await call.on(client)(*args, **kwargs)

    def relay(
        self,
        client: Any,
        send: Callable[..., Any],
        cast_to: Any,
        options: Any,
        rest: dict[str, Any],
        asking: str,
    ) -> Any:
        """Make a request of any client to the model in training, or return its coroutine.

        ``send`` would make it where the client meant to; ``options`` are the SDK's.
        """
        import openai

        is_async = isinstance(client, openai.AsyncOpenAI)
        loop = asyncio.get_running_loop() if is_async else None
        own = {"timeout": client.timeout, "max_retries": client.max_retries}
        with _asked_by(asking):
            posted = self._client(own, loop).post(
                options.url,
                cast_to=cast_to,
                body=options.json_data,
                options=options_of(options),
                **rest,
            )
        return _asked_later(asking, posted) if is_async else posted

    def missed(self, asked: Asked) -> None:
        """Report a request that no hook makes, and that is not named auxiliary.

        Raises:
            RecordingError: this rollout is strict. A request that no function waits for
                may be an auxiliary one's, where there are some: it only warns.
        """
        report = f"{asked} {MISSED}: {asked.remedy}"
        if asked not in self.unhooked:
            self.unhooked.append(asked)
        if self.strict and (asked.functions or not self.auxiliary):
            raise stop(report)
        say_once(report)

    def _client(
        self, options: dict[str, Any], loop: asyncio.AbstractEventLoop | None
    ) -> Any:
        """Return the model's client, with the user's timeouts and retries.

        They hold where the rollout has no time limit of its own.
        """
        key = (loop, str(options))
        with self.lock:
            if key not in self._clients:
                client = connected_client(loop).copy(
                    base_url=self.base_url, api_key=self.api_key, **options
                )
                client.recording = self
                self._clients[key] = client
            return self._clients[key]

    def detour(self, path: str, body: Any, options: Any) -> Detour | None:
        """Return how to answer a request that is not sent as it is, else None."""
        view = (options.get("headers") or {}).get("X-Stainless-Raw-Response")
        if path == "/chat/completions" and view == "stream":
            return chat_detour(whole_body(body, options))
        if path != "/responses":
            return None
        self.must_be_open()
        body = plain(whole_body(body, options))
        with self.lock:
            try:
                turn = self._conversations.begin(body)
            except Untranslatable as reason:
                raise stop(
                    f"the agent asked /responses for {reason}: the model in training "
                    "supports only chat completions. Give the agent a tool of its own for "
                    "this, or exclude the call with --auxiliary FUNCTION."
                ) from None
        return response_detour(turn)

    def prepare(
        self, path: str, body: Any, options: Any, asking: str = ""
    ) -> tuple[dict[str, Any], dict[str, Any], Request]:
        """Turn the request that the SDK would send into one for the model in training.

        The agent's own headers and query stay behind: they belong to the production
        endpoint and may hold its keys.
        """
        self.must_be_open()
        if path != "/chat/completions" or not isinstance(body, dict):
            raise stop(
                f"the agent called {path}, which the recorder cannot send to the model "
                "in training: it supports chat completions and responses. If this is an "
                "auxiliary call, adapt the agent again with --auxiliary FUNCTION."
            )
        body = for_any_engine(whole_body(body, options))
        as_functions = are_asked_for(body)
        if as_functions:
            body = self.functions.request(body)
        body |= {"model": self.model, "logprobs": True, "return_token_ids": True}
        if self.temperature is not None:
            body = {k: v for k, v in body.items() if k not in SAMPLING_ARGUMENTS}
            body["temperature"] = self.temperature
        if self.max_tokens is not None:
            body = with_most_tokens(body, self.max_tokens)
        if self.template:
            own = body.get("chat_template_kwargs") or {}
            body["chat_template_kwargs"] = {**self.template, **own}
        if {body.get("temperature"), body.get("top_p")} - {None, 1}:
            say_once(SAMPLING.format(**{"temperature": 1, "top_p": 1, **body}))
        kept = {
            key: value
            for key, value in options.items()
            if key not in ("extra_json", "params", "headers")
        }
        kept["headers"] = sdk_headers(options.get("headers"))
        with self.lock:
            tools = plain(body.get("tools") or None)
            request = self.place(list(body.get("messages") or []), tools)
            request.asking = asking or _asking.get()
            request.choices = body.get("n") or 1
            request.as_functions = as_functions
        return body, self.recorded_first(request, kept), request

    def patience(self) -> dict[str, Any]:
        """Return the request options that say how long to wait, and how often to retry.

        The SDK would retry timeouts as well: a completion that takes too long would be
        asked for again, three times as a rule.
        """
        if self.deadline is None:
            return {}
        import openai

        left = max(self.deadline - time.monotonic(), SHORTEST)
        timeout = openai.Timeout(left, connect=min(left, CONNECTING))
        return {"timeout": timeout, "max_retries": 0}

    def pause_before_retry(self, error: BaseException, attempts: int) -> float | None:
        """Return the seconds to wait before a request is sent again; None: not again.

        ``attempts`` counts how often it has been sent.
        """
        pause: float = FIRST_PAUSE * 2 ** (attempts - 1)
        if (
            self.deadline is None  # the SDK has retried it
            or attempts >= ATTEMPTS
            or getattr(error, "status_code", 500) in NOT_AGAIN
            or not self.is_endpoint_fault(error)
            or time.monotonic() + pause >= self.deadline
        ):
            return None
        return pause

    def is_endpoint_fault(
        self, error: BaseException, *, streaming: bool = False
    ) -> bool:
        """Tell whether only the endpoint can have caused an error of a request.

        A completion that takes longer than the episode may is the policy's doing.
        """
        kinds = _kinds(error)
        # The SDK's own; of a stream, the HTTP library's (httpx or httpx2).
        timed_out = not kinds.isdisjoint({"APITimeoutError", "TimeoutException"})
        # No connection is no completion.
        connected = _kinds(error.__cause__).isdisjoint(
            {"ConnectTimeout", "PoolTimeout"}
        )
        if self.deadline is not None and timed_out and connected:
            return False
        return super().is_endpoint_fault(error, streaming=streaming)


async def _asked_later(asking: str, posted: Awaitable[Any]) -> Any:
    with _asked_by(asking):
        return await posted


def _kinds(error: BaseException | None) -> set[str]:
    """Return the names of an error's classes."""
    return {kind.__name__ for kind in type(error).__mro__}


rollout = Rollout
