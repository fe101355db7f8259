"""Keeps episodes for people: as JSON lines beside the checkpoints, and as a page."""

from __future__ import annotations

import html
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import art
from pydantic_core import to_jsonable_python

from art_adapt.recording.messages import storable
from art_adapt.training.checkpoints import folder_of
from art_adapt.training.histories import messages_of, named_histories
from art_adapt.worth_reading import worth_reading

STYLE = (
    "<meta name=viewport content='width=device-width'><style>"
    "body { font-family: sans-serif; max-width: 50em; margin: 1em auto; padding: 0 1em }"
    "pre { white-space: pre-wrap; background: #8881; padding: 0.5em }"
    "</style>"
)


def keep(
    model: art.TrainableModel[Any, Any],
    groups: Sequence[art.TrajectoryGroup],
    split: str,
    step: int,
    shown: int,
) -> None:
    """Write the episodes of a step to ``episodes/SPLIT/STEP.jsonl`` beside ART's files.

    ART's own files hold the first history of an episode, neither its scenario nor its
    answer (0.5.18, model.py, log). ``shown``: also write a page with that many of the
    best, of the worst and of the others, at random: both hacks and faults of a reward
    are found by reading.
    """
    episodes = [t for group in groups for t in group.trajectories]
    file = folder_of(model) / "episodes" / split / f"{step:04d}.jsonl"
    file.parent.mkdir(parents=True, exist_ok=True)
    lines = (json.dumps(as_json(each), ensure_ascii=False) for each in episodes)
    file.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    if shown:
        page = Path(f"{model.name}-{split}-step{step}.html")
        rewards = [each.reward for each in episodes]
        chosen = [(title, episodes[at]) for title, at in worth_reading(rewards, shown)]
        write_page(page, chosen)
        print(f"{len(chosen)} episodes to read: {page}")


def as_json(trajectory: art.Trajectory) -> dict[str, Any]:
    """Return an episode as JSON, whole."""
    return {
        "scenario": _plain(getattr(trajectory, "scenario", None)),
        "final_answer": _plain(getattr(trajectory, "final_answer", None)),
        "reward": trajectory.reward,
        "metrics": trajectory.metrics,
        "metadata": trajectory.metadata,
        "histories": [
            {"name": name, "tools": history.tools, "messages": messages_of(history)}
            for name, history in named_histories(trajectory)
        ],
        "logs": trajectory.logs,
    }


def _plain(value: Any) -> Any:
    """Return what JSON can hold of models, dataclasses and the like."""
    return to_jsonable_python(storable(value, Any), inf_nan_mode="null")


def write_page(
    path: Path, chosen: Sequence[tuple[str, art.Trajectory]], summary: str = ""
) -> None:
    """Write episodes, each with a title, as a page that opens offline."""
    parts = ["<!doctype html><meta charset=utf-8>", STYLE]
    parts += [f"<pre>{html.escape(summary)}</pre>"] if summary else []
    for title, trajectory in chosen:
        episode = as_json(trajectory)
        heading = html.escape(f"{title}: reward {trajectory.reward:.3f}")
        parts.append(f"<h2>{heading}</h2>")
        for name in ("scenario", "final_answer", "metrics", "logs"):
            parts.append(_block(name.replace("_", " "), _text(episode[name])))
        for history in episode["histories"]:
            if len(episode["histories"]) > 1:
                parts.append(f"<h3>{html.escape(history['name'])}</h3>")
            for message in history["messages"]:
                calls = message.get("tool_calls")
                said = [message.get("content"), calls and _text(calls)]
                text = "\n".join(_text(each) for each in said if each)
                parts.append(_block(str(message.get("role")), text))
    path.write_text("\n".join(parts), encoding="utf-8")


def _block(title: str, text: str) -> str:
    return f"<h4>{html.escape(title)}</h4><pre>{html.escape(text)}</pre>"


def _text(value: Any) -> str:
    if isinstance(value, str):
        return value
    return json.dumps(value, indent=1, ensure_ascii=False)
