"""Whether RULER's judge answers; it is asked only if the user says so."""

from __future__ import annotations

from collections.abc import Iterator

from art_adapt.doctor.finding import Finding, Setup, failed, note, ok
from art_adapt.training.judging import try_judge


def check(setup: Setup) -> Iterator[Finding]:
    judge = setup.settings.get("JUDGE_MODEL")
    if judge is None:
        return
    if setup.try_judge:
        why = try_judge(str(judge))
        yield (
            ok("judge", f"{judge} answers")
            if why is None
            else failed("judge", why, "check its key, its name and its permissions")
        )
    else:
        yield note(
            "judge",
            f"{judge} was not called",
            "run doctor with --try-judge to call it once",
        )
