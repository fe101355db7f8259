"""What an agent that talks to a terminal reads and prints in an episode."""

from __future__ import annotations

import asyncio
import io
import sys
import threading
from collections.abc import Callable

import pytest

from art_adapt import training


def in_a_bare_thread() -> str:
    """Read a line in a thread that has no context, as run_in_executor does."""

    async def read() -> str:
        return await asyncio.get_running_loop().run_in_executor(None, input, "> ")

    return asyncio.run(read())


def test_an_input_without_context_belongs_to_the_only_episode() -> None:
    said = training.run_command(in_a_bare_thread, inputs=["hello"])
    assert said == "hello"


@pytest.mark.parametrize(
    "read",
    [
        lambda: sys.stdin.read(),
        lambda: "".join(sys.stdin.readlines()),
        lambda: "".join(sys.stdin),
        lambda: sys.stdin.readline() + sys.stdin.readline() + sys.stdin.readline(),
        lambda: f"{input()}\n{sys.stdin.read()}",
    ],
)
def test_what_is_read_from_stdin_is_the_scenario_s(read: Callable[[], str]) -> None:
    assert training.run_command(read, inputs=["one", "two"]) == "one\ntwo\n"
    assert training.run_command(lambda: str(sys.stdin.isatty())) == "True"


def test_an_input_without_context_is_never_another_episodes() -> None:
    both_run = threading.Barrier(2)

    def episode() -> None:
        both_run.wait()
        try:
            with pytest.raises(RuntimeError, match="--isolate process"):
                in_a_bare_thread()
        finally:
            both_run.wait()

    errors: list[BaseException] = []

    def run() -> None:
        try:
            training.run_command(episode, inputs=["hello"])
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=run) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not errors


def test_episodes_that_are_alike_are_kept_apart() -> None:
    both_run = threading.Barrier(2)
    said: list[str] = []

    def episode() -> None:
        both_run.wait()
        print(input("> "))
        both_run.wait()

    def run() -> None:
        said.append(training.run_command(episode, inputs=["hello"]))

    threads = [threading.Thread(target=run) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert said == ["hello", "hello"]


def test_a_stream_whose_write_returns_nothing_is_written_to(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Wrapped by colorama, for one: the module's own prints go through it."""
    written: list[str] = []

    class Wrapper(io.StringIO):
        def write(self, text: str) -> None:  # type: ignore[override]
            written.append(text)

    monkeypatch.setattr(sys, "stdout", Wrapper())
    assert training.run_command(lambda: print("the agent"), inputs=[]) == "the agent"
    print("the module")
    assert "".join(written) == "the module\n"
