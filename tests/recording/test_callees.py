"""Every supported kind of completion call in the table has a callee that records it."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator
from functools import reduce
from typing import Any

import openai
import pytest

from art_adapt.calls import KINDS, CallKind
from art_adapt.recording.callees import find_callee
from art_adapt.recording.state import RecordingError

SUPPORTED = [kind for kind in KINDS if kind.supported]


def callables(kind: CallKind) -> Iterator[Callable[..., Any]]:
    """The callables of the installed libraries that the row describes."""
    if kind.module is not None:
        module = pytest.importorskip(kind.module)
        yield from (getattr(module, method.name) for method in kind.methods)
    for name in kind.clients:
        if not hasattr(openai, name):  # instructor's
            instructor = pytest.importorskip("instructor")
            openai_name = "AsyncOpenAI" if name.startswith("Async") else "OpenAI"
            client = instructor.from_openai(_client(openai_name))
        else:
            client = _client(name)
        resource: Any = reduce(getattr, kind.resource, client)
        yield from (
            getattr(resource, method.name)
            for method in kind.methods
            if hasattr(resource, method.name)
        )


def _client(name: str) -> Any:
    options = {"api_key": "k", "base_url": "http://127.0.0.1:9"}
    if "Azure" in name:
        options["api_version"] = "1"
    return getattr(openai, name)(**options)


@pytest.mark.parametrize("kind", SUPPORTED, ids=lambda kind: str(kind.words))
def test_each_has_a_callee(kind: CallKind) -> None:
    importlib.import_module("art_adapt.recording")
    found = [find_callee(function) for function in callables(kind)]
    assert found
    assert any(callee.is_async for callee in found)
    assert any(not callee.is_async for callee in found)


def _like_openai(resource: str) -> Any:
    """Return a client of another vendor's SDK, as generators make them in openai's image."""

    def create(self: Any, **_: Any) -> None:
        raise AssertionError("the vendor is asked")

    completions = type(resource, (), {"create": create})()
    chat = type("ChatResource", (), {"completions": completions})()
    completions._client = type("Client", (), {"chat": chat})()
    return completions._client


@pytest.mark.parametrize(
    ("resource", "is_async"),
    [
        ("Completions", False),  # Groq's, Together's
        ("AsyncCompletions", True),
        ("CompletionsResource", False),  # Cerebras's
        ("AsyncCompletionsResource", True),
        ("ChatCompletions", False),
    ],
)
def test_a_client_in_openai_s_image_is_asked_as_openai_s(
    resource: str, is_async: bool
) -> None:
    create = _like_openai(resource).chat.completions.create
    found = find_callee(create)
    assert found is not None and found.is_async == is_async


def test_what_is_no_chat_of_a_client_is_left_alone() -> None:
    client = _like_openai("CompletionsResource")
    other = type("Search", (), {"create": lambda self: None, "_client": client})()
    with pytest.raises(RecordingError, match="not a method of an OpenAI client"):
        find_callee(other.create)
