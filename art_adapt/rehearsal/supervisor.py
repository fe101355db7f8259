"""Run a command, and end everything that it has started when it ends.

``contained.run`` starts this file as a program of its own: whatever the command starts, in
whatever session, stays below it. It also ends everything when its standard input ends, which
is when whoever started it has died or has had enough.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import subprocess
import sys
import threading
import time

SUBREAPER = (
    36  # PR_SET_CHILD_SUBREAPER of <linux/prctl.h>: orphans below become children
)
SECONDS = 10  # for processes to go that have been killed


def main(command: list[str]) -> int:
    """Return the command's exit code, or end by the signal that has ended it."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(SUBREAPER, 1, 0, 0, 0)
    child = subprocess.Popen(command, stdin=subprocess.DEVNULL, start_new_session=True)
    threading.Thread(target=_end_with_input, args=[child], daemon=True).start()
    code = child.wait()
    _end_all(child.pid)
    if code < 0:
        with contextlib.suppress(ImportError, OSError):
            import resource

            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))  # the command's is enough
        with contextlib.suppress(OSError):  # SIGKILL has no other handler
            signal.signal(-code, signal.SIG_DFL)
        os.kill(os.getpid(), -code)
    return code


def _end_with_input(child: subprocess.Popen[bytes]) -> None:
    while os.read(0, 1):
        pass
    child.kill()


def _end_all(session: int) -> None:
    """Kill what is left of the command's processes, and what those start meanwhile."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(session, signal.SIGKILL)
    until = time.monotonic() + SECONDS
    while (left := _descendants(os.getpid())) and time.monotonic() < until:
        for process in left:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(process, signal.SIGKILL)
        with contextlib.suppress(ChildProcessError):
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        time.sleep(0.01)


def _descendants(process: int) -> list[int]:
    """Return the processes below one; where there is no /proc, none."""
    parents: dict[int, int] = {}
    with contextlib.suppress(FileNotFoundError):
        for name in filter(str.isdigit, os.listdir("/proc")):
            with contextlib.suppress(OSError):
                with open(f"/proc/{name}/stat", "rb") as file:
                    # The name of the program may hold spaces and parentheses.
                    state, parent = file.read().rpartition(b") ")[2].split()[:2]
                if state != b"Z":
                    parents[int(name)] = int(parent)
    found = [process]
    for each in found:
        found += [child for child, parent in parents.items() if parent == each]
    return found[1:]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
