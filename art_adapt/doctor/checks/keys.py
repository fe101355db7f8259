"""Whether the keys that the run and the agent read are set; no value is ever shown."""

from __future__ import annotations

import os
from collections.abc import Iterator

from art_adapt.calls import Api
from art_adapt.doctor.finding import Finding, Setup, failed, note, ok
from art_adapt.rehearsal.environment import environment, keys_read, project_of
from art_adapt.rehearsal.surveyed import surveyed
from art_adapt.training.judging import keys_missing
from art_adapt.training.runs import keys_needed


def check(setup: Setup) -> Iterator[Finding]:
    needed = keys_needed(setup.settings, str(setup.settings.get("BACKEND", "local")))
    missing = {name: user for name, user in needed.items() if not os.environ.get(name)}
    for name, user in missing.items():
        yield failed(
            "keys", f"{name} is not set: {user} needs it", f"run export {name}=..."
        )
    required = environment("", setup.path).made_up
    read = sorted({*keys_read(project_of(setup.path)), *required} - needed.keys())
    unset = [name for name in read if not os.environ.get(name)]
    for name in unset:
        how = "requires" if name in required else "reads"
        yield note("keys", f"{name} is not set, and the agent {how} it")
    wanted = {name: user for name, user in _of_providers(setup) if name not in needed}
    for name, user in wanted.items():
        yield note("keys", f"{name} is not set, and {user} may need it")
    there = [name for name in (*needed, *read) if name not in (*missing, *unset)]
    if there or not (missing or unset or wanted):
        yield ok("keys", ", ".join(there) or "none needed")


def _of_providers(setup: Setup) -> Iterator[tuple[str, str]]:
    """Yield what LiteLLM wants for the providers of the judge and of side jobs, and has not."""
    judge = setup.settings.get("JUDGE_MODEL")
    if judge is not None:
        yield from ((name, "RULER's judge") for name in keys_missing(str(judge)))
    found = surveyed(setup.path)
    for call in found.calls if found is not None else ():
        if call.api is Api.LITELLM and call.asks and not call.recorded:
            yield from ((name, call.function) for name in keys_missing(call.asks))
