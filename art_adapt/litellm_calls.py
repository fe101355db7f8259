"""Send what LiteLLM asks of any provider to the scripted model.

A provider's own key, address and protocol are then needed by nobody. This file imports the
standard library alone: ``capture --scripted`` loads it in the agent's own environment, where
art-adapt may not be installed.
"""

from __future__ import annotations

import functools
import inspect
import os
import sys
from collections.abc import Callable, Sequence
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any
from urllib.parse import urlsplit

# The functions that ask, by the modules that define them (litellm 1.82): litellm itself has
# them from there by a star, and a Router calls those of litellm.
ASKING = {
    "litellm.main": ("completion", "acompletion", "embedding", "aembedding"),
    "litellm.responses.main": ("responses", "aresponses"),
}
COMPATIBLE = "openai/"


def answer_litellm(url: str) -> None:
    """Reroute LiteLLM's calls in this process to ``url``, once it is imported."""
    sys.meta_path.insert(0, _Importing(url))


class _Importing:
    """Finds the modules of ``ASKING`` as Python would, and reroutes them when they have run."""

    def __init__(self, url: str) -> None:
        self.url = url

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if name not in ASKING:
            return None
        found = (
            finder.find_spec(name, path, target)
            for finder in sys.meta_path
            if finder is not self
        )
        spec = next((each for each in found if each is not None), None)
        if spec is not None and spec.loader is not None:
            run = spec.loader.exec_module

            def executed(module: ModuleType) -> None:
                run(module)
                for each in ASKING[name]:
                    setattr(module, each, _rerouted(getattr(module, each), self.url))

            spec.loader.exec_module = executed  # type: ignore[method-assign]
        return spec


def _rerouted(function: Callable[..., Any], url: str) -> Callable[..., Any]:
    if inspect.iscoroutinefunction(function):

        @functools.wraps(function)
        async def asks_later(*args: Any, **kwargs: Any) -> Any:
            return await function(**_to(url, _named(function, args) | kwargs))

        return asks_later

    @functools.wraps(function)
    def asks(*args: Any, **kwargs: Any) -> Any:
        return function(**_to(url, _named(function, args) | kwargs))

    return asks


def _named(function: Callable[..., Any], args: Sequence[Any]) -> dict[str, Any]:
    """Return positional arguments by their names: of ``responses`` the first is no model."""
    return dict(zip(inspect.signature(function).parameters, args, strict=False))


def _to(url: str, given: dict[str, Any]) -> dict[str, Any]:
    """Return the arguments of a call that goes to ``url``, under the model's own name.

    One that is handed a client, or goes there already, stays as it is.
    """
    base = str(given.get("api_base") or given.get("base_url") or "")
    if given.get("client") or urlsplit(base).netloc == urlsplit(url).netloc:
        return given
    left_out = ("base_url", "custom_llm_provider", "api_version")
    kept = {name: value for name, value in given.items() if name not in left_out}
    key = given.get("api_key") or os.environ.get("OPENAI_API_KEY", "none")
    name = f"{COMPATIBLE}{str(given.get('model')).removeprefix(COMPATIBLE)}"
    return kept | {"api_base": url, "api_key": key, "drop_params": True, "model": name}
