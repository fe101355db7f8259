"""Writes the train module: scenarios, rollout, reward and the GRPO loop, as ART's guide
for RL scripts asks.
"""

from art_adapt.train_module.render import render
from art_adapt.train_module.seal import SEAL, is_former, is_untouched

__all__ = ["SEAL", "is_former", "is_untouched", "render"]
