"""What somebody says of completion calls: which are trained, and which are side jobs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from art_adapt.calls import is_function
from art_adapt.code.call_graph import CallGraph
from art_adapt.code.project import Project
from art_adapt.survey.calls.asides import Asker
from art_adapt.survey.calls.roles import Role

if TYPE_CHECKING:  # a survey holds what was said
    from art_adapt.survey.model import CompletionCall


@dataclass(frozen=True)
class Said:
    """The names of calls of either role: a function, a class, or FILE:LINE."""

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
            name = next((each for each in names if is_named(call, each)), None)
            if name is not None:
                named = replace(call, role=role, reason=f"named: --{role} {name}")
                return call if call.role is role else named
        return call

    def of_asker(self, asker: Asker) -> Asker:
        """Return who asks through a call, with the role that is said of it."""
        for role, names in (
            (Role.AUXILIARY, self.auxiliary),
            (Role.POLICY, self.policy),
        ):
            name = next((n for n in names if is_function(asker.function, n)), None)
            if name is not None:
                aside = f"named: --{role} {name}" if role is Role.AUXILIARY else ""
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
    return bool(turns) and all(each.asks not in (None, call.asks) for each in turns)
