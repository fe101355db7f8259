"""Lets what a rehearsal sets hold in each process that a train module starts.

An episode's process imports the agent anew: without this its stubs would be gone there,
and a secret of an .env file would come in. Imported first in each of these processes; in a
real run it does nothing.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Any

SETTINGS = "ART_ADAPT_REHEARSAL"  # names the file with the rehearsal's settings

IS_REHEARSAL = SETTINGS in os.environ
if IS_REHEARSAL:
    from art_adapt.rehearsal.conditions import hold

    hold(os.environ[SETTINGS])


def noted_episode() -> AbstractContextManager[None]:
    """Return a context in which a rehearsal notes the episode of a process of its own."""
    if not IS_REHEARSAL:
        return nullcontext()
    from art_adapt.rehearsal.recorders import noted

    return noted(os.environ[SETTINGS])


def watch_reward(score: Callable[..., Any]) -> None:
    """Let a rehearsal note which comparisons of a reward function ever hold."""
    if IS_REHEARSAL:
        from art_adapt.rehearsal.conditions import note_reward

        note_reward(score, os.environ[SETTINGS])
