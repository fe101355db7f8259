"""Keeps episodes for people: as JSON lines beside the checkpoints, and as a page."""

from __future__ import annotations

import html
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import art
from pydantic_core import to_jsonable_python

from art_adapt.pages import html_page, transcript
from art_adapt.recording.messages import storable
from art_adapt.training.checkpoints import folder_of
from art_adapt.training.histories import messages_of, named_histories
from art_adapt.worth_reading import worth_reading


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
    parts = [f"<pre>{html.escape(summary)}</pre>"] if summary else []
    for title, trajectory in chosen:
        episode = as_json(trajectory)
        facts = {
            name.replace("_", " "): episode[name]
            for name in ("scenario", "final_answer", "metrics", "logs")
        }
        histories = [(each["name"], each["messages"]) for each in episode["histories"]]
        heading = f"{title}: reward {trajectory.reward:.3f}"
        parts.append(transcript(heading, facts, histories))
    page = html_page(path.stem, "\n".join(parts))
    path.write_text(page, encoding="utf-8")
