"""Whether there are scenarios, enough of them, and each only once."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator

from art_adapt.doctor.finding import Finding, Setup, failed, note, ok
from art_adapt.scenarios.reward_keys import lacking_keys
from art_adapt.scenarios.rows import split
from art_adapt.training.plan import described, make_plan


def check(setup: Setup) -> Iterator[Finding]:
    if not hasattr(setup.module, "Scenario"):
        yield note("scenarios", "not checked, because the module cannot be imported")
        return
    try:
        rows = setup.scenarios()
    except SystemExit as stop:
        yield failed(
            "scenarios",
            str(stop),
            "write that file or fix that row, or set SCENARIOS to another source",
        )
        return
    if not rows:
        source = setup.settings["SCENARIOS"]
        yield failed("scenarios", f"{source} has no scenarios", "write some")
        return
    if hasattr(setup.module, "score"):
        for each in lacking_keys(setup.path, rows, hasattr):
            yield failed("scenarios", each.what, each.fix)
    training, validation = split(rows, setup.settings.get("VALIDATION_SCENARIOS"))
    said = f"{len(training)} to train on, {len(validation)} held out"
    texts = Counter(json.dumps(r.model_dump(mode="json"), sort_keys=True) for r in rows)
    again = sum(count - 1 for count in texts.values())
    if again:
        what = f"{said}; {again} are duplicates"
        yield note(
            "scenarios",
            what,
            "remove the duplicates: a task that comes twice is trained on twice as often",
        )
    else:
        yield ok("scenarios", said)
    plan = make_plan(setup.settings, len(training), len(validation))
    yield note("run", described(plan, len(validation)))
