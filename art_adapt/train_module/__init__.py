"""Renders the train module: scenarios, episode, reward and the GRPO loop."""

from art_adapt.train_file import has_seal, is_former, is_made_of, is_untouched
from art_adapt.train_module.render import render

__all__ = ["has_seal", "is_former", "is_made_of", "is_untouched", "render"]
