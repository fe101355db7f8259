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
