"""What somebody says of completion calls: which are trained, and which are side jobs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from art_adapt.calls import is_function
from art_adapt.survey.calls.roles import Role

if TYPE_CHECKING:  # a survey holds what was said
    from art_adapt.survey.calls.asides import Asker
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
        call = replace(call, askers=tuple(map(self._of_asker, call.askers)))
        for role, names in (
            (Role.AUXILIARY, self.auxiliary),
            (Role.POLICY, self.policy),
        ):
            name = next((each for each in names if is_named(call, each)), None)
            if name is not None:
                named = replace(call, role=role, reason=f"named: --{role} {name}")
                return call if call.role is role else named
        return call

    def _of_asker(self, asker: Asker) -> Asker:
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
    says it, if only by default. A checker that begins anew in each turn is no turn itself.
    """

    def is_turn(each: CompletionCall) -> bool:
        anew = each.begins and each.loop and each.loop.function != each.function
        return each.tools is not None or (each.loop is not None and not anew)

    turns = [each for each in policy if is_turn(each)]
    if call in turns or call.asks is None:
        return False
    return bool(turns) and all(each.asks not in (None, call.asks) for each in turns)
