"""The recorder: puts an agent's completions on the ART trajectory of its rollout.

``with rollout(trajectory, base_url=..., api_key=..., model=...):`` sends each recorded
call of the block to the model in training, and records the messages that were sent, the
tools and the Choice as ART trains from them. The hooks file of an adapted agent
(``art_adapt/hooks.py``, which lands as ``art_recording.py``) finds this package among
the loaded modules: import it before the agent. ``openai`` is imported when a rollout
makes its first call, ART never.
"""

from art_adapt.recording.hooked import (
    carried,
    check_hooks,
    final_answer,
    recorded,
    reward,
)
from art_adapt.recording.rollout import Rollout, rollout
from art_adapt.recording.state import (
    EndpointError,
    EpisodeOver,
    RecordingError,
    RecordingWarning,
)
from art_adapt.recording.training_view import for_training

__all__ = [
    "EndpointError",
    "EpisodeOver",
    "RecordingError",
    "RecordingWarning",
    "Rollout",
    "carried",
    "check_hooks",
    "final_answer",
    "for_training",
    "recorded",
    "reward",
    "rollout",
]
