"""Records an episode whose calls go where the agent sends them: to production."""

from __future__ import annotations

import copy
import functools
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from art_adapt.recording.callees import find_callee
from art_adapt.recording.clients import exchange, run, run_async
from art_adapt.recording.histories import Request
from art_adapt.recording.messages import message_of, plain
from art_adapt.recording.recorder import Recorder
from art_adapt.recording.requests import whole_body
from art_adapt.recording.responses import Conversations, Turn, Untranslatable
from art_adapt.recording.rollout import opened_as
from art_adapt.recording.state import stop


class Listener(Recorder):
    """A recorder that changes nothing: neither where a request goes nor what it asks.

    Attributes:
        models: that the agent has asked, by the names that it gave.
    """

    def __init__(self, trajectory: Any) -> None:
        super().__init__(trajectory)
        self.models: set[str] = set()
        self._conversations = Conversations()
        self._turns: dict[int, Turn | None] = {}  # of the requests to /responses

    def call(
        self,
        create: Callable[..., Any],
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        asking: str = "",
    ) -> Any:
        """Make the call of ``create`` as it is, on the agent's own client."""
        self.must_be_open()
        call = find_callee(create)
        if call.client is None:
            raise stop(
                "this call is made by another library than openai, which takes no "
                "client: the production model can't be recorded through it. Evaluate "
                "without it, with --no-production."
            )
        return call.on(self._listening(call.client, asking))(*args, **kwargs)

    def _listening(self, client: Any, asking: str) -> Any:
        """Return the agent's client, with this recorder between it and the network."""
        import openai

        copied = copy.copy(client)
        copied.recording, copied.asking = self, asking
        is_async = isinstance(client, openai.AsyncOpenAI)
        stream = openai.AsyncStream if is_async else openai.Stream

        def post(path: str, *, body: Any = None, **rest: Any) -> Any:
            steps = exchange(copied, client.post, stream, path, body, rest)
            return run_async(steps) if is_async else run(steps)

        copied.post = post
        return copied

    def detour(self, path: str, body: Any, options: Any) -> None:
        """Every request is sent as it is."""

    def patience(self) -> dict[str, Any]:
        """Return no options: the agent's own timeouts and retries hold."""
        return {}

    def pause_before_retry(self, error: BaseException, attempts: int) -> None:
        """The agent's client has retried what it retries."""

    def prepare(
        self, path: str, body: Any, options: Any, asking: str
    ) -> tuple[Any, dict[str, Any], Request]:
        """Note a request, and leave it as it is."""
        self.must_be_open()
        whole = plain(whole_body(body, options)) if isinstance(body, dict) else {}
        self.models.add(str(whole.get("model")))
        with self.lock:
            turn: Turn | None = None
            if path == "/responses":
                try:
                    turn = self._conversations.begin(whole)
                    whole = turn.chat
                except Untranslatable:  # it is counted, and no judge will see it
                    whole = {}
            messages = list(whole.get("messages") or [])
            request = self.place(messages, whole.get("tools") or None)
            request.asking = asking
            request.choices = whole.get("n") or 1
            if path == "/responses":
                self._turns[request.number] = turn
        kept = dict(options)
        if parser := options.get("post_parser"):
            kept["post_parser"] = functools.partial(self._noted, request, parser)
        return body, kept, request

    def _noted(
        self, request: Request, parser: Callable[[Any], Any], completion: Any
    ) -> Any:
        self.received(request, completion)
        return parser(completion)

    def received(self, request: Request, answer: Any) -> Any:
        """Record an answer; of the Responses API, those that came in one piece."""
        if request.number not in self._turns:
            return super().received(request, answer)
        if request.recorded:
            return answer
        turn = self._turns[request.number]
        if turn is None or not isinstance(getattr(answer, "output", None), list):
            self.calls += 1
            return answer
        choice = _as_choice(answer)
        self.count_tokens(answer)
        self.record(request, [choice], {})
        turn.id = answer.id
        self._conversations.keep(turn, message_of(choice))
        return answer

    def _check_exact(self, choice: Any, shared_extras: dict[str, Any]) -> None:
        """Nothing is trained on what production has said."""


def _as_choice(response: Any) -> Any:
    """Return what a Response says as the choice of a chat completion."""
    from openai.types.chat.chat_completion import Choice

    calls = [
        {
            "id": item.call_id,
            "type": "function",
            "function": {"name": item.name, "arguments": item.arguments},
        }
        for item in response.output
        if item.type == "function_call"
    ]
    message: dict[str, Any] = {"role": "assistant", "content": response.output_text}
    if calls:
        message["tool_calls"] = calls
    ended = "length" if response.status == "incomplete" else "stop"
    return Choice.model_validate(
        {"index": 0, "finish_reason": ended, "message": message, "logprobs": None}
    )


@contextmanager
def listening(trajectory: Any) -> Iterator[Listener]:
    """Record the policy calls made in this block, which go to production as ever.

    Raises ``RecordingError`` at its end if a call could not be recorded.
    """
    with opened_as(Listener(trajectory)) as listener:
        yield listener
