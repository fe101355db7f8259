"""What somebody says of completion calls: which are trained, and which are side jobs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from art_adapt.calls import is_function
from art_adapt.code.call_graph import CallGraph
from art_adapt.code.project import Project
from art_adapt.paths import at
from art_adapt.survey.calls.asides import Asker
from art_adapt.survey.calls.roles import Role

if TYPE_CHECKING:  # a survey holds what was said
    from art_adapt.survey.model import CompletionCall


NAMED = "named:"  # how a reason begins that somebody gave


@dataclass(frozen=True)
class Said:
    """The names of calls of either role: a function, a class, FILE:LINE, or a model."""

    policy: tuple[str, ...] = ()
    auxiliary: tuple[str, ...] = ()

    def of(self, call: CompletionCall) -> CompletionCall:
        """Return a call with the role that is said of it, or that it has.

        The same goes for those who ask through it.
        """
        call = replace(call, askers=tuple(map(self.of_asker, call.askers)))
        for role, names in (
            (Role.AUXILIARY, self.auxiliary),
            (Role.POLICY, self.policy),
        ):
            name = next(
                (n for n in names if is_named(call, n) or asks_only(call, n)), None
            )
            if name is not None:
                named = replace(call, role=role, reason=f"{NAMED} --{role} {name}")
                return call if call.role is role is Role.AUXILIARY else named
        return call

    def of_asker(self, asker: Asker) -> Asker:
        """Return who asks through a call, with the role that is said of it."""
        for role, names in (
            (Role.AUXILIARY, self.auxiliary),
            (Role.POLICY, self.policy),
        ):
            name = next((n for n in names if is_function(asker.function, n)), None)
            if name is not None:
                aside = f"{NAMED} --{role} {name}" if role is Role.AUXILIARY else ""
                return replace(asker, reason=aside, apart=False, model="")
        return asker


NOTHING = Said()


def with_named(
    project: Project,
    graph: CallGraph,
    calls: Mapping[Path, list[CompletionCall]],
    said: Said,
) -> dict[Path, list[CompletionCall]]:
    """Return the calls with the functions that the user names as side jobs among their askers.

    A name stands for all that its function calls. If no path from it to a trained call was
    read, the user knows better, because a run has shown one: code that the model writes, a table.
    """
    every = [call for each in calls.values() for call in each]
    named = {
        (path, function.qualname): syntax.place(function.node)
        for path, syntax in project.files.items()
        for function in syntax.functions.values()
        for name in said.auxiliary
        if is_function(function.qualname, name) and not _is_known(name, every)
    }
    askers: dict[CompletionCall, list[Asker]] = {}
    for key, place in named.items():
        run = graph.run_by([key])
        trained = [call for call in every if call.role is Role.POLICY]
        led_to = [c for c in trained if (c.place.path, c.function) in run]
        for call in led_to or trained:
            asker = said.of_asker(Asker(key[1], place))
            unread = f"{asker.reason}; no path from it to this request was read"
            asker = asker if led_to else replace(asker, reason=unread)
            askers.setdefault(call, []).append(asker)
    return {
        path: [replace(c, askers=(*c.askers, *askers.get(c, ()))) for c in each]
        for path, each in calls.items()
    }


def _is_known(name: str, calls: Sequence[CompletionCall]) -> bool:
    """True if a name means a call, or a function that asks through one."""
    return any(
        is_named(call, name) or any(is_function(a.function, name) for a in call.askers)
        for call in calls
    )


def is_named(call: CompletionCall, name: str) -> bool:
    """Tell whether ``name`` is the call's FILE:LINE, or a function or class that it is in."""
    path, _, line = name.rpartition(":")
    if line.isdigit():
        return call.place.line == int(line) and call.place.path.as_posix().endswith(
            path
        )
    return is_function(call.function, name)


def asks_only(call: CompletionCall, model: str) -> bool:
    """True if a call asks that model, and no other was seen to be asked by it."""
    return call.asks == model and len(call.several) < 2


def models_of(
    policy: Sequence[CompletionCall], said: Said
) -> dict[str, list[CompletionCall]]:
    """Return the models that an episode's trained calls name, each with its calls; {} for one.

    That is asked of single requests side by side, of which none is the conversation, and of a
    call that objects with different models go through. What ``said`` names is settled, and what
    runs did not ask is another way to run the agent.
    """
    asking = [
        call
        for call in policy
        if call.in_episode and not (call.unasked or call.reason.startswith(NAMED))
    ]
    found: dict[str, list[CompletionCall]] = {}
    settled = {
        *said.auxiliary,
        *(
            asker.asks or asker.model
            for call in asking
            for asker in call.askers
            if any(is_function(asker.function, name) for name in said.policy)
        ),
    }
    for call in asking:
        names = call.several or filter(None, [call.asks])
        for name in (n for n in names if n not in settled):
            found.setdefault(name, []).append(call)
    if any(asks_another_model(call, policy) or call.beside for call in asking):
        return {}
    return found if len(found) > 1 else {}


def where_asked(models: Mapping[str, Sequence[CompletionCall]]) -> str:
    """Return ``small (agent.py:9), large (judge.py:5)``: who asks for it, or else the call."""
    return ", ".join(
        f"{name} ({_listed(name, calls)})" for name, calls in models.items()
    )


def _listed(model: str, calls: Sequence[CompletionCall]) -> str:
    places = list(dict.fromkeys(_places(model, calls)))
    more = f" and {len(places) - 2} more places" if len(places) > 3 else ""
    return ", ".join(places[:2] if more else places) + more


def _places(model: str, calls: Sequence[CompletionCall]) -> Iterator[str]:
    for call in calls:
        places = [each.place for each in call.askers if each.asks == model]
        yield from map(at, places or [call.place])


def asks_another_model(call: CompletionCall, policy: Sequence[CompletionCall]) -> bool:
    """True if a single request names another model than the conversations beside it do.

    Whether it is trained all the same, only the user knows. A model counts where the file
    says it, if only by default, or where a run has shown it. A checker that begins anew in
    each turn is no turn itself.
    """
    if call.asked_other:
        return True

    def is_turn(each: CompletionCall) -> bool:
        anew = each.begins and each.loop and each.loop.function != each.function
        return each.tools is not None or (each.loop is not None and not anew)

    turns = [each for each in policy if is_turn(each)]
    if call in turns or call.asks is None:
        return False
    if call.unasked and any(each.model == call.model for each in turns):
        return False  # of the turns a run has shown more than the code says of both
    return bool(turns) and all(each.asks not in (None, call.asks) for each in turns)
