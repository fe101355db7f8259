"""Whether the keys that the run and the agent read are set; no value is ever shown."""

from __future__ import annotations

import os
from collections.abc import Iterator

from art_adapt.doctor.finding import Finding, Setup, failed, note, ok
from art_adapt.rehearsal.environment import environment, files_of, keys_read
from art_adapt.training.runs import keys_needed


def check(setup: Setup) -> Iterator[Finding]:
    needed = keys_needed(setup.settings, str(setup.settings.get("BACKEND", "local")))
    missing = {name: user for name, user in needed.items() if not os.environ.get(name)}
    for name, user in missing.items():
        yield failed(
            "keys", f"{name} is not set: {user} needs it", f"run export {name}=..."
        )
    required = environment("", setup.path).made_up
    read = sorted({*keys_read(files_of(setup.path)), *required} - needed.keys())
    unset = [name for name in read if not os.environ.get(name)]
    for name in unset:
        how = "requires" if name in required else "reads"
        yield note("keys", f"{name} is not set, and the agent {how} it")
    if (needed and not missing) or not (needed or unset):
        yield ok("keys", ", ".join(needed) or "none needed")
