"""Reads from the driver what the GPUs of this machine are, and what holds their memory."""

from __future__ import annotations

import os
import shutil
import subprocess
from contextlib import suppress
from dataclasses import dataclass

MIB = 2**20 / 1e9  # nvidia-smi's unit, in gigabytes


@dataclass(frozen=True)
class Holder:
    """A process that holds a GPU's memory; ``gigabytes`` of it."""

    pid: int
    name: str
    gigabytes: float

    def __str__(self) -> str:
        return f"process {self.pid} ({self.name}) uses {self.gigabytes:.1f} GB"


def nvidia_smi(query: str) -> list[list[str]]:
    """Return the rows that the driver's tool answers; none where there is no driver."""
    if shutil.which("nvidia-smi") is None:
        return []
    command = ["nvidia-smi", f"--query-{query}", "--format=csv,noheader,nounits"]
    with suppress(OSError, subprocess.SubprocessError):
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=30, check=True
        )
        return [line.split(", ") for line in done.stdout.splitlines()]
    return []


def holders() -> list[Holder]:
    """Return the other processes that hold memory of a GPU, as the driver shows them."""
    rows = nvidia_smi("compute-apps=pid,process_name,used_memory")
    return [
        Holder(int(pid), name, float(used) * MIB)
        for pid, name, used in (row for row in rows if len(row) == 3)
        if pid.isdigit() and used.replace(".", "").isdigit() and int(pid) != os.getpid()
    ]
