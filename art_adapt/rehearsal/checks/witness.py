"""Define what a rehearsal has seen, or not, of what adapting states."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Witness:
    """Something that adapting states of an agent, and whether the rehearsal saw it."""

    statement: str
    seen: bool
