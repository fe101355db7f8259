"""Which line is named where an agent raised."""

from __future__ import annotations

import traceback

from art_adapt.training.threads import own_place


def test_the_agents_own_line_is_named_and_no_hook_that_wraps_it() -> None:
    frames = [
        traceback.FrameSummary("/shop/agent.py", 12, "run"),
        traceback.FrameSummary("/shop/art_recording.py", 60, "call"),
        traceback.FrameSummary(traceback.__file__, 3, "sdk"),
    ]
    assert own_place(frames) == "/shop/agent.py:12"
    assert own_place(frames[2:]) is None
