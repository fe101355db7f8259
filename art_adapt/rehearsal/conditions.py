"""What a rehearsal sets in a process before the agent is imported there."""

from __future__ import annotations

import functools
from collections.abc import Callable
from pathlib import Path
from typing import Any

from art_adapt.litellm_calls import answer_litellm
from art_adapt.rehearsal.compared import compared_file, note_comparisons
from art_adapt.rehearsal.endless import end_endless_episodes
from art_adapt.rehearsal.environment import keep_dotenv_out
from art_adapt.rehearsal.outside import keep_as_it_is
from art_adapt.rehearsal.protocol import Settings, from_json
from art_adapt.rehearsal.stubs import put_stubs
from art_adapt.rehearsal.unreached import note_unreached, unreached_file
from art_adapt.train_file import import_name


def note_reward(score: Callable[..., Any], settings_file: str) -> None:
    """Note how the comparisons of a reward function come out, and that what it asks is its own."""
    from art_adapt.rehearsal.repeats import (
        tell,
    )  # not in the processes of episodes alone

    settings = _settings(settings_file)
    note_comparisons(score, compared_file(settings.out))
    tell(settings.url, "judged", {})


@functools.cache
def _settings(settings_file: str) -> Settings:
    return from_json(Settings, Path(settings_file).read_text(encoding="utf-8"))


@functools.cache  # once in each process
def hold(settings_file: str) -> None:
    """Keep secrets of .env files out of this process, stub what does not run, and end what loops.

    What it would change outside of the project gets a copy. Whatever provider LiteLLM is asked
    for, the scripted model answers: a judge, a side job. What the agent does not reach is noted.
    """
    settings = _settings(settings_file)
    if settings.overlay is not None:
        keep_as_it_is(settings.overlay)
    keep_dotenv_out(settings.let_through)  # before ART: litellm reads .env, too
    answer_litellm(settings.url)
    put_stubs(settings.stubs, import_name(Path(settings.file))[0])
    end_endless_episodes(settings.file, settings.most_calls)
    note_unreached(unreached_file(settings.out))
