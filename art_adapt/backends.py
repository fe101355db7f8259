"""Names ART's backends that a train module can use, and how to install them."""

from __future__ import annotations

from enum import StrEnum
from importlib import metadata


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
WHERE = {
    Backend.LOCAL: "On a machine with an NVIDIA GPU and Python 3.12",
    Backend.SERVERLESS: "Anywhere, on W&B's GPUs",
    Backend.TINKER: "Anywhere with Python 3.12, on Thinking Machines' GPUs",
}


def is_from_a_folder() -> bool:
    """True if this art-adapt was installed from a folder, such as a clone, and no index.

    pip notes it (PEP 610).
    """
    try:
        noted = metadata.distribution("art-adapt").read_text("direct_url.json")
    except metadata.PackageNotFoundError:  # it runs from its source
        return True
    return noted is not None
