"""Names ART's backends that a train module can use, and how to install them."""

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
# What installs them, where they run. ART 0.5.23 pins a build of torch that only PyTorch's
# index for CUDA has: uv finds it (--torch-backend), and ART itself calls uv for its vLLM.
INSTALL = {
    Backend.LOCAL: (
        "pip install uv",
        "uv pip install --torch-backend=cu128 'art-adapt[train]' 'openpipe-art[backend]>=0.5.23'",
    ),
    Backend.SERVERLESS: ("pip install 'art-adapt[train]'",),
    Backend.TINKER: ("pip install 'art-adapt[train]' 'openpipe-art[tinker]>=0.5.23'",),
}
NEEDED_PYTHON = {Backend.LOCAL: "3.12", Backend.TINKER: "3.12"}
WHERE = {
    Backend.LOCAL: f"On a machine with an NVIDIA GPU and Python {NEEDED_PYTHON[Backend.LOCAL]}",
    Backend.SERVERLESS: "Anywhere, on W&B's GPUs",
    Backend.TINKER: "Anywhere with Python 3.12, on Thinking Machines' GPUs",
}
