"""Looks at a machine and a train module before a GPU is paid for.

One module of ``checks`` for each subject, with a function ``check(setup)`` that yields
findings. A further subject is a further module.
"""

import art_adapt.offline  # noqa: F401 - before ART, which imports litellm
from art_adapt.doctor.examine import examine
from art_adapt.doctor.finding import Finding, Setup, State

__all__ = ["Finding", "Setup", "State", "examine"]
