"""Present one file of ART code as the rules read it.

Each module here covers one subject, and imports only modules above it:

- ``file``: calls, what names mean, constants
- ``blocks``: what stands after and inside a statement
- ``trajectories``: where trajectories are made, and what is put on them
- ``rewards``: where rewards are set
- ``completions``: which calls ask the model in training
- ``sampled``: which part of a completion an expression is
- ``training``: which groups are trained on
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from art_adapt.rules.code.blocks import LEAVING, Blocks, below
from art_adapt.rules.code.completions import Completions, is_api_model
from art_adapt.rules.code.file import DEPTH, File, dict_item
from art_adapt.rules.code.rewards import Rewards, RewardWrite
from art_adapt.rules.code.sampled import Kind, Sampled
from art_adapt.rules.code.training import Training
from art_adapt.rules.code.trajectories import Put, Trajectories

__all__ = [
    "DEPTH",
    "LEAVING",
    "Code",
    "Kind",
    "Put",
    "RewardWrite",
    "below",
    "dict_item",
    "is_api_model",
]


@dataclass(frozen=True)
class Code(File):
    """A file, and a view of it for each subject, made when a rule first asks."""

    auxiliary: frozenset[str] = frozenset()  # functions, from [tool.art-adapt]

    @cached_property
    def blocks(self) -> Blocks:
        return Blocks(self.syntax)

    @cached_property
    def trajectories(self) -> Trajectories:
        return Trajectories(self)

    @cached_property
    def rewards(self) -> Rewards:
        return Rewards(self, self.trajectories)

    @cached_property
    def completions(self) -> Completions:
        return Completions(self, self.trajectories)

    @cached_property
    def sampled(self) -> Sampled:
        return Sampled(self, self.completions)

    @cached_property
    def training(self) -> Training:
        return Training(self, self.trajectories)
