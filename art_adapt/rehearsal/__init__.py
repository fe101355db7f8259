"""Run a train module on this machine, with a scripted model instead of a GPU."""

from art_adapt.rehearsal.run import Conditions, NotRehearsed, Rehearsal, rehearse

__all__ = ["Conditions", "NotRehearsed", "Rehearsal", "rehearse"]
