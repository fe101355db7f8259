"""Runs one episode of a fixture, outside or inside a rollout, and prints what came of it as one line of JSON."""

from __future__ import annotations

import asyncio
import contextlib
import inspect
import io
import json
import sys
from typing import Any


def outcome() -> str:
    from episode import episode

    try:
        with contextlib.redirect_stdout(io.StringIO()):
            value = episode()
            if inspect.iscoroutine(value):
                value = asyncio.run(value)
    except Exception as error:
        return f"raised {type(error).__name__}: {error}"
    return f"returned {type(value).__name__} {value!r}"


def make_trajectory(kind: str) -> Any:
    """An ``art.Trajectory``, whose import takes seconds, or its light stand-in."""
    if kind == "art":
        from art import Trajectory
    else:
        from trajectories import Trajectory

    class AgentTrajectory(Trajectory):
        final_answer: Any = None

    return AgentTrajectory()


def main() -> None:
    training = sys.argv[2]
    said: dict[str, Any] = {}
    if training:
        import episode

        from art_adapt.recording import rollout  # before the agent, as in training

        trajectory = make_trajectory(sys.argv[3])
        with rollout(
            trajectory,
            base_url=training,
            api_key="sk-rollout",
            model="policy:step1",
            every_client=getattr(episode, "EVERY_CLIENT", False),
        ) as recording:
            said["outcome"] = outcome()
        said |= {
            "final_answer": repr(trajectory.final_answer),
            "reward": trajectory.reward if recording.rewarded else None,
            "answered": recording.answered,
            "calls": recording.calls,
            "infrastructure_error": repr(recording.infrastructure_error),
            "histories": [
                {
                    "tools": history.tools,
                    "items": [
                        item
                        if isinstance(item, dict)
                        else {"choice": item.model_dump(mode="json")}
                        for item in history.messages_and_choices
                    ],
                }
                for history in (trajectory, *trajectory.additional_histories)
            ],
            "serialised": len(trajectory.model_dump_json()),
        }
    else:
        before = set(sys.modules)
        said["outcome"] = outcome()
        said["imported"] = sorted(
            {name.split(".")[0] for name in set(sys.modules) - before}
        )
    print(json.dumps(said))


if __name__ == "__main__":
    main()
