"""Start the ears that the settings ask for."""

from __future__ import annotations

import atexit
import os
import sys
import time
from typing import Any

from .activity import Activity, loaded
from .conversations import Conversations
from .ears import Ear, listen_to
from .episodes import Episodes
from .typed import Typed


def listen(told: dict[str, Any]) -> None:
    """Listen to one function's episodes, to all that is active when a model is asked, or both."""
    ears: list[Ear] = []
    if told.get("overlay") is not None:
        outside, folders = loaded(told["overlay"]["file"]), told["overlay"]["folders"]
        inside = tuple(folders["inside"])  # JSON has lists
        outside.keep_as_it_is(outside.Overlay(**{**folders, "inside": inside}))
    if told.get("seen") is not None:
        if told["seen"].get("copy_of") is not None:
            _import_from(told["seen"]["copy_of"], told["seen"]["root"])
        activity = Activity(told["seen"])
        ears += [activity, Typed(lambda text: activity.write({"typed": text}))]
    if told.get("episodes") is not None:
        ears += _ears_of(Episodes(told["episodes"]), told["episodes"]["conversations"])
    if ears:
        listen_to(ears)


def _import_from(project: str, copy: str) -> None:
    """Import what is installed as editable from the copy that this process works in."""

    def inside(path: str) -> str:
        below = os.path.relpath(path, project)
        return (
            os.path.join(copy, below)
            if os.path.isdir(path) and below[:2] != ".."
            else path
        )

    sys.path[:] = [
        path if "site-packages" in path else inside(path) for path in sys.path
    ]


def _ears_of(episodes: Episodes, conversations: bool) -> list[Ear]:
    ears: list[Ear] = []
    if any(field["of"] == "inputs" for field in episodes.fields):
        ears.append(Typed(episodes.inputs.append))
    is_script = episodes.function == "<module>"
    if is_script:
        _listen_to_the_process(episodes)
    else:
        ears.append(episodes)
    return [*ears, Conversations(episodes)] if conversations else ears


def _listen_to_the_process(listener: Episodes) -> None:
    noted: dict[str, Any] = {"began": time.time(), "fields": {}, "conversations": []}
    listener.running[0] = noted

    def end() -> None:
        # Of a script that has ended, __main__ has no __file__ any more.
        main = getattr(sys.modules.get("__main__"), "__file__", sys.argv[0])
        if os.path.realpath(main) == listener.file:
            listener.write(noted, "ended", None)

    atexit.register(end)
