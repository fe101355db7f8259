"""How large a base model's weights are."""

from __future__ import annotations

from art_adapt.rehearsal.cost import BYTES, weights_of
from art_adapt.training.base_models import weight_bytes_of


def gigabytes_of(model: str) -> float | None:
    """Return the size of a model's weights in bfloat16, by its files, or else by its name."""
    if (known := weight_bytes_of(model)) is not None:
        return known.value / 1e9
    total, _ = weights_of(model)
    return None if total is None else total * BYTES
