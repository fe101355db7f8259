"""A shape: a small agent in a folder of its own, its replies, what must come of it."""

from __future__ import annotations

import re
import runpy
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agent_files import art_adapt, copy_of, replies_of, run_episode
from scripted_engine import Engine, Exchange

SHAPES = Path(__file__).with_name("shapes")


@dataclass(frozen=True)
class Shape:
    """``explained``: what art-adapt must say of a shape that it does not adapt.

    ``auxiliary_model``: the model whose calls stay on it. ``concurrent``: its calls
    come in no particular order. ``every_client``: a framework makes them, unhooked.
    """

    name: str
    explained: str | None
    auxiliary_model: str | None
    concurrent: bool
    every_client: bool

    @property
    def title(self) -> str:
        """The folder's name as people read it: "1 sync tool loop"."""
        number, _, words = self.name.partition("_")
        return f"{int(number)} {words.replace('_', ' ')}"

    @property
    def replies(self) -> list[dict[str, Any]]:
        return replies_of(SHAPES / self.name)

    def original(self, target: Path) -> Path:
        return copy_of(self.name, target, SHAPES)

    def adapted(self, target: Path) -> Path:
        folder = self.original(target)
        done = art_adapt("--isolated", "agent.py", cwd=folder)
        assert done.returncode == 0, done.stderr.decode()
        return folder

    def is_policy(self, exchange: Exchange) -> bool:
        return exchange.request["model"] != self.auxiliary_model


@dataclass(frozen=True)
class Production:
    """One episode outside a rollout: what the agent sent, to the byte, and what came of
    it.
    """

    calls: int
    sent: list[bytes] | Counter[bytes]
    outcome: str


def read_shape(folder: Path) -> Shape:
    said = runpy.run_path(str(folder / "episode.py"))
    return Shape(
        folder.name,
        said.get("EXPLAINED"),
        said.get("AUXILIARY_MODEL"),
        said.get("CONCURRENT", False),
        said.get("EVERY_CLIENT", False),
    )


ALL = [read_shape(folder) for folder in sorted(SHAPES.glob("[0-9]*"))]


def run_in_production(shape: Shape, folder: Path) -> Production:
    with Engine(shape.replies) as engine:
        said = run_episode(folder, engine.root)
        bodies = _bodies(shape, engine.log)
        return Production(len(engine.log), bodies, said["outcome"])


def _bodies(shape: Shape, log: Sequence[Exchange]) -> list[bytes] | Counter[bytes]:
    """The requests as they came over the wire. Where the agent has no order, the
    engine's numbers have none either.
    """
    if not shape.concurrent:
        return [exchange.body for exchange in log]
    return Counter(re.sub(rb"call_\d+_", b"call_", exchange.body) for exchange in log)
