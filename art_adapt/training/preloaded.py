"""Imports what every episode needs, once, in the process that those of episodes are forked from.

``multiprocessing``'s fork server imports this module, told in the environment what to
prepare. Its own ``set_forkserver_preload`` imports modules by name only, before Python
3.12.4 with a ``sys.path`` of its own, and never the main module (CPython,
multiprocessing/forkserver.py).
"""

from __future__ import annotations

import json
import multiprocessing.process
import multiprocessing.spawn
import os
import signal
import threading
from contextlib import suppress

TOLD = "ART_ADAPT_PRELOADED"
PREPARED = (
    "sys_path",
    "sys_argv",
    "dir",
    "orig_dir",
    "init_main_from_name",
    "init_main_from_path",
)

threads: list[str] = []  # that run here: a fork would lack them


def told(module: str) -> str:
    """Return what the fork server is to be told: to be as this process, and its modules."""
    spawned = multiprocessing.spawn.get_preparation_data("forked from")
    process = {key: spawned[key] for key in PREPARED if key in spawned}
    return json.dumps({"process": process, "module": module})


def _preload(text: str) -> None:
    wanted = json.loads(text)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C lets a step be finished
    # As in a spawned process: a main module without a guard must not start anything.
    vars(multiprocessing.process.current_process())["_inheriting"] = True
    try:
        multiprocessing.spawn.prepare(wanted["process"])
        if wanted["module"] != "__main__":
            __import__(wanted["module"])
        from art_adapt.recording.clients import connected_client

        connected_client(None)
    finally:
        del vars(multiprocessing.process.current_process())["_inheriting"]
        main = threading.main_thread()
        threads.extend(t.name for t in threading.enumerate() if t is not main)


if TOLD in os.environ:
    # What fails here fails again in each episode, where it is reported.
    with suppress(Exception, SystemExit):
        _preload(os.environ.pop(TOLD))
