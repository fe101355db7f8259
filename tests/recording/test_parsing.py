"""Episodes that run side by side parse files: scripts, modules, callers of hooks."""

import gc
import threading
import time
from collections.abc import Iterator

import pytest

from art_adapt.recording.parsing import parsed

NESTED = b"x = " + b"(1, " * 40 + b"2" + b")" * 40 + b"\n"


@pytest.fixture
def switching() -> Iterator[None]:
    """Let threads change while a tree is built, as they may wherever Python code runs."""

    def yield_to_others(*_: object) -> None:
        time.sleep(0)

    before = gc.get_threshold()
    gc.set_threshold(7)
    gc.callbacks.append(yield_to_others)
    yield
    gc.callbacks.remove(yield_to_others)
    gc.set_threshold(*before)


@pytest.mark.usefixtures("switching")
def test_threads_parse_side_by_side() -> None:
    failed: list[Exception] = []

    def parse() -> None:
        for _ in range(25):
            try:
                parsed(NESTED * 3, "agent.py")
            except SystemError as error:
                failed.append(error)

    threads = [threading.Thread(target=parse) for _ in range(4)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert not failed
