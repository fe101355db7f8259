"""Names ART's backends that a train module can use."""

from __future__ import annotations

from enum import StrEnum


class Backend(StrEnum):
    """Where training runs."""

    LOCAL = "local"  # GPUs of one's own, or rented
    SERVERLESS = "serverless"  # W&B's GPUs
    TINKER = "tinker"  # Thinking Machines' GPUs


NAMES = f"{', '.join([*Backend][:-1])} or {[*Backend][-1]}"
# The variables with the keys of those that rent GPUs out.
KEYS = {
    Backend.SERVERLESS: "WANDB_API_KEY",
    Backend.TINKER: "TINKER_API_KEY",
}
