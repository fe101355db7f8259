"""Says how a run goes: what a step has to learn from, episodes to read, how to go on."""

from __future__ import annotations

import html
import json
import statistics
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import art


def say_lost(groups: list[art.TrajectoryGroup]) -> list[art.TrajectoryGroup]:
    """Print how many episodes were lost, and one of the reasons; return the groups."""
    lost = [error for group in groups for error in group.exceptions]
    if lost:
        print(f"{len(lost)} episodes lost, one by {lost[0].type}: {lost[0].message}")
    return groups


def with_episodes(groups: list[art.TrajectoryGroup]) -> list[art.TrajectoryGroup]:
    """Return the groups that have an episode left, and print what was lost."""
    return [group for group in say_lost(groups) if group.trajectories]


def report(groups: Sequence[art.TrajectoryGroup]) -> None:
    """Print what a step has to learn from: a group of equal rewards teaches nothing."""
    rewards = [[t.reward for t in group.trajectories] for group in groups]
    flat = sum(len(set(of_group)) == 1 for of_group in rewards)
    every = [value for of_group in rewards for value in of_group]
    print(
        f"mean reward {statistics.fmean(every):.3f} of {len(every)} episodes, "
        f"{flat} of {len(groups)} groups without variance, "
        f"spread {statistics.pstdev(every):.3f}, {_sampled_tokens(groups)} tokens"
    )


def show(
    groups: Sequence[art.TrajectoryGroup], count: int, run_name: str, step: int
) -> None:
    """Write the ``count`` best episodes of a step as a page that opens offline."""
    if not count:
        return
    episodes = [t for group in groups for t in group.trajectories]
    style = "<style>pre { white-space: pre-wrap }</style>"
    page = ["<!doctype html><meta charset=utf-8>", style]
    for trajectory in sorted(episodes, key=lambda t: t.reward)[-count:]:
        page.append(f"<h2>reward {trajectory.reward:.3f}</h2>")
        for message in trajectory.messages():
            said = message.get("content") or json.dumps(message.get("tool_calls"))
            text = html.escape(str(said))
            page.append(f"<h4>{message['role']}</h4><pre>{text}</pre>")
    path = Path(f"{run_name}-step{step}.html")
    path.write_text("\n".join(page), encoding="utf-8")
    print(f"{min(count, len(episodes))} episodes to read: {path}")


def print_usage(model: art.TrainableModel[Any, Any]) -> None:
    """Print how to call the trained model."""
    name, url = model.get_inference_name(), model.inference_base_url
    body = json.dumps({"model": name, "messages": [{"role": "user", "content": "Hi"}]})
    print(f"\nTrained: {name}")
    print(f"  OpenAI(base_url={url!r}, api_key=...).chat.completions.create(")
    print(f"      model={name!r}, messages=[...])")
    print(f'  curl {url}/chat/completions -H "Authorization: Bearer $KEY" \\')
    print(f"      -H 'Content-Type: application/json' -d '{body}'")


def _sampled_tokens(groups: Sequence[art.TrajectoryGroup]) -> int:
    choices = (
        choice
        for group in groups
        for t in group.trajectories
        for choice in choices_of(t)
    )
    return sum(
        len(choice.logprobs.content or []) for choice in choices if choice.logprobs
    )


def choices_of(trajectory: art.Trajectory) -> list[Any]:
    """Return the choices of all histories of an episode."""
    histories: list[Any] = [trajectory, *trajectory.additional_histories]
    items = [item for history in histories for item in history.messages_and_choices]
    return [item for item in items if not isinstance(item, dict)]
