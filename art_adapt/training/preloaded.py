"""Imports what every episode needs, once, in the process that those of episodes are forked from.

``multiprocessing``'s fork server runs it, told in the environment what to prepare. Its own
``set_forkserver_preload`` imports modules by name only, before Python 3.12.4 with a
``sys.path`` of its own, and never the main module (CPython, multiprocessing/forkserver.py).
"""

from __future__ import annotations

import gc
import json
import multiprocessing.process
import multiprocessing.spawn
import os
import signal
import threading
from importlib import import_module

TOLD = "ART_ADAPT_PRELOADED"
PREPARED = (
    "sys_path",
    "sys_argv",
    "dir",
    "orig_dir",
    "init_main_from_name",
    "init_main_from_path",
)

problem = ""  # why no episode can be forked from this process


def told(module: str) -> str:
    """Return what the fork server is to be told: to be as this process, and a module."""
    spawned = multiprocessing.spawn.get_preparation_data("forked from")
    process = {key: spawned[key] for key in PREPARED if key in spawned}
    return json.dumps({"process": process, "module": module})


def preload() -> None:
    """Import what the environment tells, and note what forks of it would lack."""
    global problem
    wanted = json.loads(os.environ.pop(TOLD))
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C lets a step be finished
    here = vars(multiprocessing.process.current_process())
    # As in a spawned process: a main module without a guard must not start anything.
    here["_inheriting"] = True
    try:
        multiprocessing.spawn.prepare(wanted["process"])
        if wanted["module"] != "__main__":
            import_module(wanted["module"])
        _import_what_a_call_does()
    except (Exception, SystemExit) as error:
        problem = f"importing them there fails: {error!r}"
    finally:
        del here["_inheriting"]
    main = threading.main_thread()
    if threads := [t.name for t in threading.enumerate() if t is not main]:
        problem = f"they start threads when they are imported ({', '.join(threads)})"
    # Left out of collections, the pages of all these objects stay shared with the forks.
    gc.collect()
    gc.freeze()


def _import_what_a_call_does() -> None:
    """Import what an episode's first call would: some 450 modules of the SDK."""
    from art_adapt.recording.callees import find_callee
    from art_adapt.recording.clients import connected_client

    find_callee(connected_client(None).chat.completions.create)
