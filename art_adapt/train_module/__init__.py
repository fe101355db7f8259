"""Renders the train module: scenarios, episode, reward and the GRPO loop."""

from art_adapt.train_module.render import render, run_command
from art_adapt.train_module.seal import has_seal, is_former, is_untouched

__all__ = ["has_seal", "is_former", "is_untouched", "render", "run_command"]
