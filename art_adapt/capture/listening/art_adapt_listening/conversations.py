"""Note what the SDK's clients ask a chat model, and what comes back."""

from __future__ import annotations

import base64
import json
import struct
import sys
from collections.abc import Callable
from types import CodeType, FrameType
from typing import Any

from .episodes import Episodes
from .values import as_json

OF_THE_SDK = (
    "SyncAPIClient.request",
    "AsyncAPIClient.request",
    "Stream.__stream__",
    "AsyncStream.__stream__",
    "BaseClient._process_response_data",
)
CHUNK = "_process_response_data"
CHAT = "/chat/completions"
EMBEDDINGS = "/embeddings"
LONGEST_EMBEDDED = 4_000  # characters of a text whose vector is kept
ENDPOINTS = (CHAT, "/responses", EMBEDDINGS)
ENDS_RESPONSE = ("response.completed", "response.incomplete", "response.failed")


class Requests:
    """The requests of the SDK's clients that are under way, and the streams that they opened.

    Every call of the SDK ends in its clients' ``request``; a stream is read by its
    ``__stream__``, which has each chunk made by ``_process_response_data`` (openai 2 and
    3, _base_client.py and _streaming.py).

    ``asks`` takes the frame, the URL and the body of a request, as far as JSON can hold it, and
    returns what ``says`` takes with the answer; None: this request is not noted.
    """

    def __init__(
        self,
        asks: Callable[[FrameType, str, Any], Any],
        says: Callable[[Any, dict[str, Any]], None],
    ) -> None:
        self.asks = asks
        self.says = says
        self.asked: dict[int, Any] = {}
        # By the HTTP response, of which a wrapper may make the stream: litellm asks for it raw.
        self.streams: dict[int, tuple[Any, Any, list[Any]]] = {}

    def begins(self, frame: FrameType) -> None:
        options = frame.f_locals.get("options")
        url = str(getattr(options, "url", ""))
        if not url.endswith(ENDPOINTS) or id(frame) in self.asked:
            return
        body = as_json(getattr(options, "json_data", None)).get("value")
        asked = self.asks(frame, url, body)
        if asked is not None:
            self.asked[id(frame)] = asked

    def pauses(self, frame: FrameType) -> None:
        pass

    def forgets(self, frame: FrameType) -> None:
        self.asked.pop(id(frame), None)

    def ends(self, frame: FrameType, outcome: str, answer: Any = None) -> None:
        if frame.f_code.co_name == CHUNK:
            number = _response_read_by(frame.f_back)
            read = self.streams.get(number)
            if read is not None:
                read[2].append(answer)
                # Who has the whole message may read no further. Some servers say of each chunk
                # that it is the last: those are read to the end.
                if _is_last(answer) and not _is_last(read[2][0]):
                    self.says(read[0], streamed_of(read[2]))
                    del self.streams[number]
            return
        if frame.f_code.co_name == "__stream__":
            read = self.streams.pop(_response_read_by(frame), None)
            if read is not None:
                self.says(read[0], streamed_of(read[2]))
            return
        asked = self.asked.pop(id(frame), None)
        if asked is None or outcome != "returned":
            return
        is_stream = hasattr(answer, "__stream__")
        response = getattr(answer, "response" if is_stream else "http_response", None)
        content = getattr(response, "_content", None)
        if response is not None and (is_stream or content is None):
            self.streams[id(response)] = (asked, response, [])
            return
        said = as_json(answer).get("value") if content is None else json.loads(content)
        self.says(asked, said or {})


def _is_last(chunk: Any) -> bool:
    """True if a chunk ends a message (openai 2 and 3): what follows it is usage."""
    if getattr(chunk, "type", None) in ENDS_RESPONSE:
        return True
    choices = getattr(chunk, "choices", None)
    return isinstance(choices, list) and any(
        getattr(each, "finish_reason", None)
        for each in choices
        if not getattr(each, "index", 0)
    )


def _response_read_by(frame: FrameType | None) -> int:
    """Return the number of the HTTP response that a stream reads in a frame of its own."""
    stream = frame.f_locals.get("self") if frame is not None else None
    return id(getattr(stream, "response", None))


class Conversations(Requests):
    """What openai's clients ask a chat model in the episodes of one function."""

    def __init__(self, episodes: Episodes) -> None:
        super().__init__(self._asks, self._says)
        self.episodes = episodes

    def hears(self, code: CodeType) -> bool:
        return code.co_qualname in OF_THE_SDK and "openai" in code.co_filename

    def _asks(self, _: FrameType, url: str, body: Any) -> Any:
        episode = self.episodes.around()
        is_chat = url.endswith(CHAT) and isinstance(body, dict)
        return (episode, body) if episode is not None and is_chat else None

    def _says(self, asked: Any, said: dict[str, Any]) -> None:
        episode, body = asked
        note_completion(episode, body, message_of(said))


def message_of_chunks(chunks: list[Any]) -> dict[str, Any]:
    """Put the message together that a stream has carried."""
    content = ""
    calls: dict[int, dict[str, Any]] = {}
    for chunk in chunks:
        for choice in getattr(chunk, "choices", None) or ():
            if choice.index:
                continue
            content += getattr(choice.delta, "content", None) or ""
            for part in getattr(choice.delta, "tool_calls", None) or ():
                function = {"name": "", "arguments": ""}
                call = calls.setdefault(
                    part.index, {"id": "", "type": "function", "function": function}
                )
                call["id"] = part.id or call["id"]
                for name in function:
                    call["function"][name] += getattr(part.function, name, None) or ""
    message: dict[str, Any] = {"role": "assistant", "content": content or None}
    return message | ({"tool_calls": list(calls.values())} if calls else {})


def note_completion(
    episode: dict[str, Any], body: dict[str, Any], message: dict[str, Any]
) -> None:
    """Add a request and its answer to an episode, in the place of those it goes on from."""
    before = body.get("messages") or []
    said = {name: value for name, value in message.items() if value is not None}
    conversation = {"messages": [*before, {"content": None, **said}]}
    if body.get("tools"):
        conversation["tools"] = body["tools"]
    kept = episode["conversations"]
    for number, other in enumerate(kept):
        length = len(other["messages"])
        if len(before) >= length and before[: length - 1] == other["messages"][:-1]:
            del kept[number]
            break
    kept.append(conversation)


def streamed_of(chunks: list[Any]) -> dict[str, Any]:
    """Return what a stream has carried as one completion, or the response that ended it."""
    last = getattr(chunks[-1], "response", None) if chunks else None
    if last is not None:
        return as_json(last).get("value") or {}
    return {"choices": [{"message": message_of_chunks(chunks)}]}


def embedded(texts: Any, said: dict[str, Any]) -> list[tuple[str, str]]:
    """Return texts, each with its vector in a response, as base64 of floats of four bytes.

    Tokens, and long texts, which are documents rather than questions, are left out.
    """
    texts = [texts] if isinstance(texts, str) else list(texts or ())
    found = []
    for text, each in zip(texts, said.get("data") or (), strict=False):
        vector = each.get("embedding")
        if isinstance(vector, list):  # else it is such already, as the SDK asks for
            vector = base64.b64encode(struct.pack(f"<{len(vector)}f", *vector)).decode()
        if isinstance(text, str) and len(text) <= LONGEST_EMBEDDED and vector:
            found.append((text, vector))
    return found


def message_of(said: dict[str, Any]) -> dict[str, Any]:
    """Return the message of a completion, or of a response with its text and calls."""
    for choice in said.get("choices") or ():
        return choice.get("message") or {}
    text, calls = "", []
    for item in said.get("output") or ():
        if item.get("type") == "function_call":
            function = {"name": item.get("name"), "arguments": item.get("arguments")}
            calls.append(
                {"id": item.get("call_id"), "type": "function", "function": function}
            )
        for part in item.get("content") or ():
            text += part.get("text") or ""
    message: dict[str, Any] = {"role": "assistant", "content": text or None}
    return message | ({"tool_calls": calls} if calls else {})


def send_to(client: Any, url: str) -> None:
    """Let a client of the SDK ask at another address, also that of the module openai.

    That one reads the module's ``base_url`` first, and has no setter that works (openai 3,
    __init__.py).
    """
    for each in reversed(type(client).__mro__):
        address = vars(each).get("base_url")
        if isinstance(address, property) and address.fset is not None:
            address.fset(client, url)
            break
    module = sys.modules.get("openai")
    if module is not None and getattr(module, "base_url", None) is not None:
        module.base_url = url.rstrip("/") + "/"  # type: ignore[attr-defined]
