"""Whether RULER's judge answers; it is asked only if the user says so."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

from art_adapt.doctor.finding import Finding, Setup, failed, note, ok


def check(setup: Setup) -> Iterator[Finding]:
    judge = setup.settings.get("JUDGE_MODEL")
    if judge is None:
        return
    if setup.try_judge:
        yield asyncio.run(_judge(str(judge)))
    else:
        yield note("judge", f"{judge} has not been asked", "--try-judge asks it once")


async def _judge(model: str) -> Finding:
    import litellm

    try:
        await litellm.acompletion(
            model=model, messages=[{"role": "user", "content": "Say yes."}]
        )
    except Exception as error:  # LiteLLM's choice
        return failed("judge", f"{model}: {error!r}", "its key, its name, its rights")
    return ok("judge", f"{model} answers")
