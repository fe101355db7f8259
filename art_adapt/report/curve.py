"""Draw what a rehearsed training has learned."""

from __future__ import annotations

import base64
import io

from art_adapt.rehearsal.learning import Learning


def curve_as_image(learning: Learning | None) -> str:
    """Return the reward curve as an element of an HTML page; "" for no training."""
    if learning is None:
        return ""
    data = base64.b64encode(reward_curve(learning)).decode()
    return f'<img alt="mean reward by step" src="data:image/png;base64,{data}">\n'


def reward_curve(learning: Learning) -> bytes:
    """Plot the mean rewards by step, and those of the control, as a PNG."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7, 4), layout="constrained")
    axes = figure.subplots()
    axes.plot(range(1, len(learning.rewards) + 1), learning.rewards, label="trained")
    axes.plot(
        range(1, len(learning.control) + 1),
        learning.control,
        linestyle="--",
        label="control: rewards shuffled",
    )
    axes.set(xlabel="step", ylabel="mean reward")
    axes.legend()
    written = io.BytesIO()
    figure.savefig(written, format="png", dpi=120)
    return written.getvalue()
