"""Tell reading what runs have shown of how an agent is made, and of what it calls."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import pairwise

from art_adapt.code.classes import FunctionKey
from art_adapt.code.session import Shown
from art_adapt.seen.episodes import Enclosing, SeenFunction
from art_adapt.seen.notes import Call, Made, Run
from art_adapt.seen.values import is_live_object

DEEPEST = 2  # objects in objects in objects


def shown_by(function: SeenFunction | None) -> Shown:
    """Return what the episodes of a function have shown; nothing, if none was seen."""
    makers: set[tuple[str, str]] = set()
    parts: set[tuple[str, str, str]] = set()
    factories: dict[tuple[str, str], None] = {}
    calls = () if function is None else function.calls
    for each in calls:
        if (site := each.call.site) is not None:
            makers.add((str(site.path), site.function))
        for made in _made(each.run, each.call, DEEPEST):
            named = made.type.replace(":", ".").rpartition(".")[2]
            by = [(made.init, named), *((call, call.name) for call in made.returned)]
            for call, name in by:
                if call is not None and call.site is not None:
                    maker = str(call.site.path), call.site.function
                    parts.add((*maker, name))
                    if call is made.init:
                        makers.add(maker)
        owner = each.run.owner(each.call)
        for call in reversed(owner.returned if owner is not None else ()):
            if not call.is_nested:
                factories[str(call.path), call.key[1]] = None
    models = {str(r.body.get("model") or "") for each in calls for r in each.requests}
    model = models.pop() if len(models) == 1 else ""
    return Shown(
        frozenset(makers),
        tuple(factories),
        tuple(_openers(function)),
        model,
        frozenset(parts),
        dict(_classes(calls)),
        frozenset(edge for each in calls for edge in _calls_in(each)),
        frozenset(_objects(calls)),
    )


def _objects(episodes: Iterable[Enclosing]) -> Iterator[tuple[str, str, str]]:
    """Yield the parameters by which each episode or its object was given a live object."""
    calls: dict[FunctionKey, list[Call]] = {}
    for each in episodes:
        owner = each.run.owner(each.call)
        init = None if owner is None else owner.init
        for call in (each.call, *([] if init is None else [init])):
            calls.setdefault(call.key, []).append(call)
    for (path, function), made in calls.items():
        for name in made[0].given:
            if is_live_object(name, made):
                yield str(path), function, name


def _calls_in(
    episode: Enclosing,
) -> Iterator[tuple[FunctionKey, FunctionKey, int]]:
    """Yield the calls of the project's functions that led from an episode to the model.

    Line 0: a library made the call, as of a listener, in a thread or not.
    """
    run = episode.run
    for request in episode.requests:
        for inner, outer in pairwise(run.outward(request.around)):
            is_own = inner.site is not None and inner.direct
            yield outer.key, inner.key, inner.site.line if is_own and inner.site else 0
            if outer is episode.call:
                break


def _classes(
    episodes: Iterable[Enclosing],
) -> Iterator[tuple[tuple[str, str, str], tuple[str, str]]]:
    """Yield the class of the project that each episode or its object was given by a parameter."""
    found: dict[tuple[str, str, str], set[tuple[str, ...]]] = {}
    for each in episodes:
        owner = each.run.owner(each.call)
        init = None if owner is None else owner.init
        for call in (each.call, *([] if init is None else [init])):
            path, function = call.key
            for name, note in call.given.items():
                noted = tuple(note.get("class") or ())
                found.setdefault((str(path), function, name), set()).add(noted)
    for key, classes in found.items():
        match [*classes]:
            case [(file, name)]:
                yield key, (file, name)


def _openers(
    function: SeenFunction | None,
) -> Iterator[tuple[str, tuple[str, str]]]:
    """Yield the parameters by which each call was given one function's text, with that function."""
    if function is None:
        return
    for name in function.calls[0].call.given:
        openers = {each.call.opener_of(name) for each in function.calls}
        opener = openers.pop() if len(openers) == 1 else None
        if opener is not None and name not in function.given:
            yield name, opener


def _made(run: Run, call: Call, depth: int) -> Iterator[Made]:
    """Yield the objects that a call is given or is a method of, and those that made them up."""
    numbers = [call.owner, *(note.get("object") for note in call.given.values())]
    for number in numbers:
        made = run.objects.get(number or 0)
        if made is not None and made.init is not None:
            yield made
            if depth:
                yield from _made(run, replace(made.init, owner=None), depth - 1)
