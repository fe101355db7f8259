"""The side effects of an agent, and what it uses that is not handled."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from art_adapt.paths import at
from art_adapt.source import Place


class Harm(StrEnum):
    """How a side effect gets in the way of running an episode many times."""

    ASKS = "asks a person"
    WRITES = "writes outside the episode"
    COMMITS = "commits to a database"
    NETWORK = "talks to a service"
    CLOCK = "depends on time or chance"
    SHARED = "is shared between rollouts"
    MAIN = "works in the main thread only"
    LIMITS = "lets no more through at a time, whatever CONCURRENCY says"
    PROCESS = "starts a process"
    CODE = "runs code or commands that an episode writes"
    IMPORT = "runs when the module is imported"
    UNKNOWN = "has effects that are not known here"


@dataclass(frozen=True)
class Effect:
    """A side effect that makes an episode hard to replay.

    ``calls``: those that work at import consists of, where the module can be imported
    without them. ``of_module``: state of the file's own module, which is new in each
    episode that runs the whole file. ``in_files``: what lasts lies in files, a database of
    sqlite3 for example: a copy of the project's folder keeps it apart. ``otherwise``: what
    follows unless each episode has its own. ``changes_service``: a service is told something that
    it may keep.
    """

    place: Place
    harm: Harm
    what: str
    calls: tuple[str, ...] = ()
    of_module: bool = False
    in_files: bool = False
    otherwise: str = ""
    changes_service: bool = False


def are_in_files(commits: Iterable[Effect], effects: Iterable[Effect]) -> bool:
    """True if a copy of the project's folder keeps all that episodes commit to databases.

    A connection that is handed on is one to a file, if nothing else is opened.
    """
    lying = [each.in_files for each in commits]
    served = any(each.harm is Harm.NETWORK for each in effects)
    return any(lying) and (all(lying) or not served)


def isolation(effects: Sequence[Effect], *, can_copy: bool = True) -> str | None:
    """Return what keeps episodes with these effects apart: "process", "copy", or nothing.

    ``can_copy``: the project's folder is small enough to be copied for each episode.
    """

    def of(*harms: Harm) -> list[Effect]:
        return [each for each in effects if each.harm in harms]

    in_files = any(each.in_files for each in of(Harm.SHARED, Harm.WRITES, Harm.CODE))
    in_files |= are_in_files(of(Harm.COMMITS), effects)
    if in_files and can_copy:
        return "copy"  # another process would change the same files
    return "process" if of(Harm.SHARED, Harm.MAIN) else None


def is_kept_apart(effect: Effect, isolate: str | None) -> bool:
    """True if no other episode sees an effect where each has what ``isolation`` names.

    What is run because an episode wrote it may do anything, anywhere.
    """
    if effect.harm is Harm.CODE:
        return False
    if effect.in_files:
        return isolate == "copy"
    return isolate is not None and effect.harm in (Harm.SHARED, Harm.MAIN, Harm.LIMITS)


def places_by_what(effects: Iterable[Effect]) -> dict[str, str]:
    """Return each thing that has effects, with its place: ``a.py:12``, or that and how many more."""
    places: dict[str, dict[str, None]] = {}
    for effect in effects:
        places.setdefault(effect.what, {})[at(effect.place)] = None
    return {what: _listed(list(each)) for what, each in places.items()}


def _listed(places: list[str]) -> str:
    if len(places) > 2:
        return f"{places[0]} and {len(places) - 1} other places"
    return " and ".join(places)


@dataclass(frozen=True)
class Obstacle:
    """A framework or kind of call that is not handled, and what to use instead."""

    place: Place
    what: str
    instead: str
    calls_model: bool = True  # whether a model is called through it
    every_client: bool = False  # whether the recorder sees its requests all the same
    fails_import: bool = False  # whether no train module can import the file with it
    hides_code: bool = False  # whether it keeps code as text, perhaps the agent's
    edit: str = ""  # what to write there
