"""Keeps litellm, which ART imports, from asking the network for prices at its import.

It has a list of its own, which it takes with this variable (litellm 1.7x and 1.8x,
__init__.py: get_model_cost_map). Who has set the variable keeps it.
"""

from __future__ import annotations

import os

os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")
