"""Unit tests as users have them for their agents, with the stand-ins that they use.

``test_users_tests.py`` copies this file beside agents and runs it before and after they are
adapted. ``agents/NAME`` holds fixtures, ``shapes/NAME.py`` small agents of one shape each.
"""

from __future__ import annotations

import asyncio
import contextlib
import functools
import importlib
import inspect
import io
import json
import os
import sys
import types
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest import mock

import httpx
import openai
import pytest
import respx
from openai.resources.chat.completions import AsyncCompletions, Completions
from openai.types.chat import ChatCompletion

HERE = Path(__file__).parent
FIXTURES = sorted(path.name for path in (HERE / "agents").iterdir())
ADDRESS = "https://production.example/v1"


def completion(reply: dict[str, Any]) -> ChatCompletion:
    calls = [
        {
            "id": f"call_{n}",
            "type": "function",
            "function": {"name": c["name"], "arguments": json.dumps(c["arguments"])},
        }
        for n, c in enumerate(reply.get("tool_calls", []))
    ]
    message = {"role": "assistant", "content": reply.get("content")}
    message |= {"tool_calls": calls} if calls else {}
    choice = {"index": 0, "finish_reason": "stop", "message": message}
    return ChatCompletion.model_validate(
        {"id": "1", "object": "chat.completion", "created": 1, "model": "m"}
        | {"choices": [choice]}
    )


class Imported:
    """What is imported from a folder, and forgotten afterwards."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("OPENAI_API_KEY", "sk-test")
        monkeypatch.setenv("OPENAI_BASE_URL", ADDRESS)
        monkeypatch.setenv("AZURE_OPENAI_ENDPOINT", "https://production.example")
        monkeypatch.setenv("AZURE_OPENAI_API_KEY", "sk-test")
        monkeypatch.setenv("OPENAI_API_VERSION", "2024-10-21")
        monkeypatch.syspath_prepend(str(folder))
        monkeypatch.chdir(folder)
        self.folder = folder

    def module(self, name: str) -> Any:
        return importlib.import_module(name)

    def forget(self) -> None:
        for name, module in list(sys.modules.items()):
            if str(getattr(module, "__file__", "")).startswith(
                f"{self.folder}{os.sep}"
            ):
                del sys.modules[name]


@pytest.fixture(params=FIXTURES)
def fixture_agent(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Imported]:
    imported = Imported(HERE / "agents" / request.param, monkeypatch)
    yield imported
    imported.forget()


@pytest.fixture
def shapes(monkeypatch: pytest.MonkeyPatch) -> Iterator[Imported]:
    imported = Imported(HERE / "shapes", monkeypatch)
    yield imported
    imported.forget()


def outcome(imported: Imported) -> str:
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            value = imported.module("episode").episode()
            if inspect.iscoroutine(value):
                value = asyncio.run(value)
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return repr(value)


def note(what: Any) -> None:
    """Print what was seen: it must be the same before and after."""
    print("SEEN", what)


def client_stand_in(replies: list[dict[str, Any]], *, is_async: bool) -> mock.MagicMock:
    client = mock.MagicMock(name="client")
    create = mock.AsyncMock if is_async else mock.MagicMock
    client.chat.completions.create = create(side_effect=map(completion, replies))
    return client


# ------------------------------------------------------------------ the fixtures' own tests


def test_the_client_is_patched_at_import(fixture_agent: Imported) -> None:
    replies = fixture_agent.module("episode").REPLIES
    kinds = {
        name: client_stand_in(replies, is_async="Async" in name)
        for name in ("OpenAI", "AsyncOpenAI", "AzureOpenAI", "AsyncAzureOpenAI")
    }
    with contextlib.ExitStack() as stack:
        for name, client in kinds.items():
            stack.enter_context(mock.patch(f"openai.{name}", return_value=client))
        note(outcome(fixture_agent))
    for client in kinds.values():
        create = client.chat.completions.create
        note((create.call_count, [sorted(c.kwargs) for c in create.call_args_list]))


def test_the_method_is_patched_with_its_signature(
    fixture_agent: Imported, mocker: Any
) -> None:
    replies = fixture_agent.module("episode").REPLIES
    for owner in (Completions, AsyncCompletions):
        create = mocker.patch.object(owner, "create", autospec=True)
        create.side_effect = list(map(completion, replies))
    note(outcome(fixture_agent))
    note([c.kwargs.get("model") for c in Completions.create.call_args_list])  # type: ignore[attr-defined]


@respx.mock
def test_the_transport_is_stood_in_for(fixture_agent: Imported) -> None:
    replies = fixture_agent.module("episode").REPLIES
    answers = [httpx.Response(200, json=completion(r).model_dump()) for r in replies]
    route = respx.post(url__regex=".*/chat/completions.*").mock(
        side_effect=[*answers, *[httpx.Response(400)] * 9]
    )
    note(outcome(fixture_agent))
    note(sorted(call.request.content for call in route.calls))


def test_what_a_module_holds(fixture_agent: Imported) -> None:
    for name in ("agent", "triage.agent", "llm"):
        with contextlib.suppress(ImportError):
            module = fixture_agent.module(name)
            for key, value in sorted(vars(module).items()):
                ours = str(getattr(value, "__module__", "")).endswith("art_recording")
                if callable(value) and not isinstance(value, type) and not ours:
                    note((key, str(inspect.signature(value))))


# --------------------------------------------------------- calls that a body has stored


def test_a_class_attribute_that_is_a_partial(shapes: Imported) -> None:
    with mock.patch("openai.OpenAI") as made:
        agent = shapes.module("partial_in_class").Agent()
        create = made.return_value.chat.completions.create
        create.return_value = completion({"content": "Yes."})
        assert agent.run("?") == "Yes."
        create.assert_called_once_with(
            model="m", messages=[{"role": "user", "content": "?"}]
        )
        assert agent.ask.keywords == {"model": "m"} and agent.ask.func == create
        assert isinstance(agent.ask, functools.partial)


def test_a_class_attribute_that_is_a_bound_method(shapes: Imported) -> None:
    module = shapes.module("bound_in_class")
    agent = module.Agent()
    assert agent.complete == module.client.chat.completions.create
    assert module.client.chat.completions.create == agent.complete
    assert agent.complete != module.client.chat.completions.parse
    assert hash(agent.complete) == hash(module.client.chat.completions.create)
    assert repr(agent.complete) == repr(module.client.chat.completions.create)
    assert inspect.ismethod(agent.complete) and isinstance(
        agent.complete, types.MethodType
    )
    assert agent.complete.__self__ is module.client.chat.completions
    assert {module.client.chat.completions.create: 1}[agent.complete] == 1
    assert "__func__" in dir(agent.complete)


def test_a_class_attribute_under_a_patched_client(shapes: Imported) -> None:
    with mock.patch("openai.OpenAI"):
        agent = shapes.module("bound_in_class").Agent()
        agent.complete.return_value = completion({"content": "Yes."})
        assert agent.run("?") == "Yes."
        agent.complete.assert_called_once()
        assert agent.complete.call_args.kwargs["model"] == "m"
        agent.complete.side_effect = openai.OpenAIError("no")
        with pytest.raises(openai.OpenAIError):
            agent.run("?")
        agent.complete.reset_mock(side_effect=True)
        agent.complete.assert_not_called()
        del agent.complete.method_calls
        assert isinstance(agent.complete, mock.MagicMock)


def test_an_alias_at_module_level(shapes: Imported, mocker: Any) -> None:
    with mock.patch("openai.OpenAI"):
        module = shapes.module("alias_in_module")
        module.complete.return_value = completion({"content": "Yes."})
        assert module.run("?") == "Yes."
        module.complete.assert_called_once()
        assert (
            module.complete.mock_calls
            == module.client.chat.completions.create.mock_calls
        )
    shapes.forget()
    module = shapes.module("alias_in_module")
    spec = mocker.patch.object(module, "complete", autospec=True)
    spec.return_value = completion({"content": "No."})
    assert module.run("?") == "No."
    with pytest.raises(TypeError):
        module.complete(nonsense=1)
    stub = mocker.stub()
    stub.return_value = completion({"content": "Stub."})
    mocker.patch.object(module, "complete", stub)
    assert module.run("?") == "Stub."


def test_an_async_alias(shapes: Imported) -> None:
    module = shapes.module("async_in_module")
    assert inspect.iscoroutinefunction(inspect.unwrap(module.complete))
    assert module.complete == module.client.chat.completions.create
    with mock.patch("openai.AsyncOpenAI") as made:
        made.return_value = client_stand_in([{"content": "Yes."}], is_async=True)
        shapes.forget()
        module = shapes.module("async_in_module")
        assert asyncio.run(module.run("?")) == "Yes."
        module.complete.assert_awaited_once()
        assert isinstance(module.complete, mock.AsyncMock)


@pytest.mark.skipif(
    not issubclass(openai.DefaultHttpxClient, httpx.Client),
    reason="openai 3 asks through httpx2, which respx does not know",
)
@respx.mock
def test_an_async_alias_over_http(shapes: Imported) -> None:
    answer = httpx.Response(200, json=completion({"content": "Yes."}).model_dump())
    route = respx.post(f"{ADDRESS}/chat/completions").mock(return_value=answer)
    assert asyncio.run(shapes.module("async_in_module").run("?")) == "Yes."
    assert json.loads(route.calls.last.request.content)["model"] == "m"


def test_a_table_of_calls(shapes: Imported, monkeypatch: pytest.MonkeyPatch) -> None:
    module = shapes.module("table_in_module")
    assert module.CALLS["fast"] == module.client.chat.completions.create
    assert module.client.chat.completions.create in module.CALLS.values()
    fake = mock.create_autospec(module.CALLS["fast"])
    fake.return_value = completion({"content": "Yes."})
    monkeypatch.setitem(module.CALLS, "fast", fake)
    assert module.run("?") == "Yes."
    with pytest.raises(TypeError):
        fake(nonsense=1)
