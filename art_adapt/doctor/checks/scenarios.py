"""Whether there are scenarios, enough of them, and each only once."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from importlib.util import resolve_name

from art_adapt.doctor.finding import Finding, Setup, failed, note, ok
from art_adapt.scenario_sources import SourceKind, source_kind
from art_adapt.training.plan import described, make_plan
from art_adapt.training.scenarios import load_scenarios, split


def check(setup: Setup) -> Iterator[Finding]:
    source = str(setup.settings["SCENARIOS"])
    if source_kind(source) is not SourceKind.ROWS:
        source = str(setup.path.parent / source)
    elif source.startswith("."):
        source = resolve_name(source, setup.module.__package__)
    try:
        rows = load_scenarios(setup.module.Scenario, source)
    except SystemExit as stop:
        yield failed("scenarios", str(stop), "see there")
        return
    if not rows:
        yield failed("scenarios", f"{source} has none", "write some")
        return
    training, validation = split(rows)
    said = f"{len(training)} to train on, {len(validation)} held out"
    texts = Counter(json.dumps(r.model_dump(mode="json"), sort_keys=True) for r in rows)
    again = sum(count - 1 for count in texts.values())
    if again:
        what = f"{said}; {again} stand there more than once"
        yield note("scenarios", what, "validation would know what training has seen")
    else:
        yield ok("scenarios", said)
    plan = make_plan(setup.settings, len(training), len(validation))
    yield note("run", described(plan, len(validation)))
