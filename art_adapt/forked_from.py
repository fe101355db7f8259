"""What ``multiprocessing``'s fork server imports, to import what every episode needs.

It takes over the ``sys.path`` of the process that has started it before it imports more: a
fork server's own begins with the working folder, where a file may hide a library.
"""

from __future__ import annotations

import json
import os
import sys

TOLD = "ART_ADAPT_PRELOADED"

if TOLD in os.environ:  # else it is a fork server of somebody else's
    sys.path[:] = json.loads(os.environ[TOLD])["process"]["sys_path"]
    from art_adapt.training.preloaded import preload

    preload()
