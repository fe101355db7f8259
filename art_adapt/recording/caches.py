"""Switches off the caches with which libraries answer in the place of a model.

All rollouts of a scenario would get the answer that the first one has sampled.
"""

from __future__ import annotations

import sys
from typing import Any

from art_adapt.recording.state import say_once


def switch_off_caches() -> None:
    """Switch off the caches of the libraries that this process has imported."""
    for name, is_off in CACHES.items():
        library = sys.modules.get(name)
        if library is not None and not is_off(library):
            say_once(
                f"{name.partition('.')[0]}'s cache is off in this process, because it would give "
                "every rollout the completions of the first one"
            )


def _dspy(dspy: Any) -> bool:
    """DSPy 3 caches in memory and on disk, unless it is told not to (clients/cache.py)."""
    cache = getattr(dspy, "cache", None)  # which older ones have elsewhere
    if cache is None or not (cache.enable_disk_cache or cache.enable_memory_cache):
        return True
    dspy.configure_cache(enable_disk_cache=False, enable_memory_cache=False)
    return False


def _langchain(its_globals: Any) -> bool:
    if its_globals.get_llm_cache() is None:
        return True
    its_globals.set_llm_cache(None)
    return False


def _litellm(litellm: Any) -> bool:
    if litellm.cache is None:
        return True
    litellm.disable_cache()
    return False


# By their modules: switches a cache off, and tells whether it was off already.
CACHES = {
    "dspy": _dspy,
    "langchain_core.globals": _langchain,
    "litellm": _litellm,
}
