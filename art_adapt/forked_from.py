"""What ``multiprocessing``'s fork server imports, to import what every episode needs.

It takes over the ``sys.path`` of the process that has started it before it imports more: a
fork server's own begins with the working folder, where a file may hide a library.
"""

from __future__ import annotations

import json
import os
import sys
from contextlib import nullcontext

TOLD = "ART_ADAPT_PRELOADED"

if TOLD in os.environ:  # else it is a fork server of somebody else's
    told = json.loads(os.environ[TOLD])
    sys.path[:] = told["process"]["sys_path"]
    import art_adapt.rehearsed  # noqa: F401 - its conditions hold here, too
    from art_adapt.without_torch import without_torch

    with nullcontext() if told["torch"] else without_torch():
        from art_adapt.training.preloaded import preload

    preload()
