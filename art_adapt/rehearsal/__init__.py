"""Runs a train module on this machine, with a scripted model where the GPU would be."""

from art_adapt.rehearsal.run import Rehearsal, rehearse

__all__ = ["Rehearsal", "rehearse"]
