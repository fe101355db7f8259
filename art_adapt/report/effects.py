"""Say what an agent does that outlives an episode, and how episodes are kept apart."""

from __future__ import annotations

from collections.abc import Iterator

from art_adapt.decisions import Decisions
from art_adapt.plan import Plan
from art_adapt.report.lines import Line
from art_adapt.settings import Origin
from art_adapt.survey.model import Survey
from art_adapt.survey.side_effects.harm import Harm, is_kept_apart, places_by_what

WAYS = {"process": "process of its own", "copy": "copy of the project's folder"}
APART = {
    "process": "each episode gets a process of its own",
    "copy": "each episode gets its own copy of the project's folder",
}


def effect_lines(survey: Survey, isolate: str | None) -> Iterator[Line]:
    for harm in Harm:
        effects = survey.effects(harm)
        if effects:
            places = [f"{what} {at}" for what, at in places_by_what(effects).items()]
            said = ", ".join(places[:4])
            more = f" and {len(places) - 4} more" if len(places) > 4 else ""
            skipped = all(effect.calls for effect in effects)
            end = ": the train module leaves it out" if skipped else ""
            if all(is_kept_apart(effect, isolate) for effect in effects):
                way = "process" if harm is Harm.MAIN else str(isolate)
                end = f": {APART[way]}"
            yield Line("replay", f"{said}{more}", f"{harm}{end}")


def isolation_lines(decisions: Decisions) -> Iterator[Line]:
    """Say how episodes are kept apart, and how to let them share what outlives them."""
    origin = decisions.origins.get("isolate", Origin.DEFAULT)
    if decisions.training is not None and decisions.training.isolate is not None:
        how = f"({origin})"
        if origin is Origin.FOUND:
            how += "; --isolate none lets episodes share what outlives them"
        yield Line(
            "isolate", f"each episode in a {WAYS[decisions.training.isolate]}", how
        )


def unasked_lines(plan: Plan) -> Iterator[Line]:
    """Say what each of many episodes does for real, where nobody was asked if it may."""
    training, entry = plan.decisions.training, plan.decisions.entry
    assert training is not None
    known = {"single_turn", "isolate"} & plan.options.origins.keys()
    if known or training.single_turn or entry is None or entry.is_request:
        return
    effects = [
        effect
        for effect in plan.survey.effects(
            Harm.CODE, Harm.COMMITS, Harm.WRITES, Harm.NETWORK
        )
        if not effect.calls
        and not is_kept_apart(effect, training.isolate)
        and (effect.harm is not Harm.NETWORK or effect.changes_service)
    ]
    if effects:
        places = [f"{what} {at}" for what, at in places_by_what(effects).items()]
        in_files = training.isolate != "copy" and any(e.in_files for e in effects)
        copies = "--isolate copy keeps files apart; " * in_files
        yield Line(
            "not asked",
            f"may hundreds of episodes do this for real? {', '.join(places[:3])}",
            f"{copies}--single-turn runs none of the agent's code",
        )
