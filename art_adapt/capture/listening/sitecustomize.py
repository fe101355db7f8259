"""Start to listen, in a process that ``art-adapt capture`` has started.

Python imports this file when it starts, because it lies in a folder of PYTHONPATH. What
listens is in the package beside it.
"""

from __future__ import annotations

import json
import os
import sys
from importlib import import_module

SETTINGS = "ART_ADAPT_CAPTURE"


def _import_the_next_one() -> None:
    """Import the ``sitecustomize`` that this one stands before."""
    here = os.path.dirname(os.path.realpath(__file__))
    sys.path[:] = [path for path in sys.path if os.path.realpath(path) != here]
    own = sys.modules.pop("sitecustomize", None)
    try:
        import_module("sitecustomize")
    except ImportError as error:
        if error.name != "sitecustomize":
            raise
        if own is not None:
            sys.modules["sitecustomize"] = own


if SETTINGS in os.environ:
    try:
        with open(os.environ[SETTINGS], encoding="utf-8") as _file:
            _told = json.load(_file)
        import_module("art_adapt_listening.start").listen(_told)
    except Exception as _error:  # the agent runs, whatever happens here
        sys.stderr.write(f"art-adapt capture: {_error!r}: nothing is kept\n")
    _import_the_next_one()
