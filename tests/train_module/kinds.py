"""The kinds of train module that there are, each with one expected file.

After a wanted change of the template, ``python tests/train_module/kinds.py`` writes the
expected files anew; their diff is the review.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from agent_files import AGENTS, NAMES, agent_file, art_adapt, copy_of, write_reward

EXPECTED = Path(__file__).with_name("expected")
FRAMEWORKS = AGENTS.with_name("frameworks")
# By name: the fixture agent, and the options.
KINDS: dict[str, tuple[str, tuple[str, ...]]] = {
    "ruler": ("support_loop", ()),
    "reward_function": ("class_agent", ("--reward", "rewards:exact")),
    "both_rewards": (
        "async_research",
        ("--reward", "rewards:score", "--ruler-weight", "0.3", "--trace", "langfuse"),
    ),
    "agent_rewards": ("game", ("--backend", "serverless", "--epochs", "0")),
    "isolated": ("best_of", ("--isolate", "process", "--scenarios", "rows:ROWS")),
    "package": ("package_agent", ("--trace", "weave")),
    "pipeline": ("support_loop", ("--pipeline",)),
    "framework": ("langgraph", ()),
    "single_turn": ("support_loop", ("--single-turn",)),
}


def train_module(kind: str, into: Path) -> Path:
    """Adapt the kind's agent in a copy below ``into``; return its train module."""
    agent, options = KINDS[kind]
    folder = copy_of(agent, into, AGENTS if agent in NAMES else FRAMEWORKS)
    write_reward(folder, options)
    file = agent_file(folder)
    done = art_adapt("--isolated", *options, file.relative_to(folder), cwd=folder)
    assert done.returncode == 0, done.stderr.decode()
    return file.with_name("agent_train.py")


def main() -> None:
    EXPECTED.mkdir(exist_ok=True)
    for kind in KINDS:
        with tempfile.TemporaryDirectory() as temporary:
            data = train_module(kind, Path(temporary)).read_bytes()
        (EXPECTED / f"{kind}.py").write_bytes(data)


if __name__ == "__main__":
    main()
