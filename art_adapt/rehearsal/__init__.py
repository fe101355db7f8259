"""Run a train module on this machine, with a scripted model instead of a GPU."""

from art_adapt.rehearsal.child_process import Conditions, NotRehearsed
from art_adapt.rehearsal.run import Rehearsal, rehearse

__all__ = ["Conditions", "NotRehearsed", "Rehearsal", "rehearse"]
