"""End an episode that asks its model again and again, and find the function that loops."""

from __future__ import annotations

import sys
import types
from dataclasses import dataclass, field
from typing import Any
from weakref import WeakKeyDictionary

from art_adapt.recording.state import EpisodeOver
from art_adapt.rehearsal.places import is_own
from art_adapt.rehearsal.protocol import Trajectory

WENT_ON = "and went on"
COMPARED = 10  # the last calls, whose common frames hold the loop


def went_on(episode: Trajectory) -> bool:
    """True if a rehearsal ended an episode, which asked again and again."""
    return episode.ended is not None and WENT_ON in episode.ended


def end_endless_episodes(train_module: str, most: int) -> None:
    """End each episode that asks more often than ``most``, in this process: its own, or that of all."""
    from art_adapt.recording import Rollout

    recorder: Any = Rollout
    asked = recorder.call
    episodes: WeakKeyDictionary[Any, Calls] = WeakKeyDictionary()

    def call(self: Any, *given: Any) -> Any:
        if self not in episodes:
            episodes[self] = Calls(train_module, most)
        episodes[self].another()
        return asked(self, *given)

    recorder.call = call


@dataclass
class Calls:
    """The calls of one episode so far, and the frames that its last ones have in common."""

    train_module: str
    most: int
    count: int = 0
    common: list[types.FrameType] = field(default_factory=list)

    def another(self) -> None:
        """Count a call of the model that the code above makes.

        Raises:
            EpisodeOver: it is one too many.
        """
        self.count += 1
        if self.count <= self.most - COMPARED:
            return
        frames = self._own_frames()
        if self.common:
            pairs = zip(frames, self.common, strict=False)
            same = [frame for frame, before in pairs if frame is before]
            frames = same or frames
        self.common = frames
        if self.count > self.most:
            loop = frames[-1] if frames else sys._getframe(1)
            where = f"{loop.f_code.co_filename}:{loop.f_lineno}"
            raise EpisodeOver(
                f"it asked its model {self.most} times {WENT_ON} ({where})"
            )

    def _own_frames(self) -> list[types.FrameType]:
        """Return the active frames of the agent's own code, from the outermost in.

        Those of the train module hold no loop of the agent.
        """
        found = []
        frame: types.FrameType | None = sys._getframe(2)
        while frame is not None:
            if is_own(frame) and frame.f_code.co_filename != self.train_module:
                found.append(frame)
            frame = frame.f_back
        return found[::-1]
