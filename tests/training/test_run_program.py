"""An episode is one call of the user's program, which is started as it was watched, and ends with that call."""

from __future__ import annotations

import multiprocessing
from multiprocessing.connection import Connection
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest

from art_adapt.training import run_program

DESK = dedent("""\
    import asyncio
    import sys
    import threading
    from dataclasses import dataclass
    from pathlib import Path

    STARTED = []


    @dataclass
    class Ticket:
        text: str
        folder: Path = Path("inbox")


    @dataclass
    class Topic:
        name: str


    class Desk:
        def __init__(self, topic):
            self.topic, self.lock, self.known = topic, threading.Lock(), []

        def learn(self, fact):
            self.known.append(fact)

        def answer(self, question, depth=0):
            with self.lock:  # no row could make it
                said = f"{self.topic}: {question} {self.known}"
            return self.answer(question, depth + 1) if depth < 1 else said


    def read(ticket):
        return f"{type(ticket).__name__} {ticket.text} {type(ticket.folder).__name__}"


    def whole(ticket):
        return f"{ticket!r} {isinstance(ticket, Ticket)}"


    def leave(question):
        sys.exit(0)


    def fail(question):
        raise ValueError(question)


    def told(**options):
        return options["question"]


    def stream(question):
        yield "a"
        yield question
        STARTED.append(question)


    async def streamed(question):
        yield question
        STARTED.append(question)


    async def later(question):
        STARTED.append(question)
        await asyncio.sleep(0.01)
        return question, len(STARTED)


    def promised(question):
        return later(question)


    def main(what):
        Path("ran").write_text("so far")
        if what == "desk":
            desk = Desk(topic="fruit")
            desk.learn("apples are red")
            print(desk.answer("what is asked here?"))
        elif what == "ticket":
            print(read(Ticket("hello")), whole(Ticket("hello")))
        elif what == "topic":
            print(Topic("trees").name and told(question="?", topic=Topic("plants").name))
        elif what == "failing":
            try:
                fail("?")
            except Exception:
                print("caught")
        elif what == "leaving":
            leave("?")
        elif what == "streams":
            print(*stream("?"))
        elif what == "many":
            async def all_of_them():
                await asyncio.gather(*(later(f"{each}") for each in range(3)))
                await asyncio.gather(*(promised(f"{each}") for each in range(3)))
            asyncio.run(all_of_them())
        elif what == "pool":
            from concurrent.futures import ThreadPoolExecutor

            with ThreadPoolExecutor(3) as pool:
                print(*pool.map(lambda each: told(question=each), "abc"))
        elif what == "typed":
            told(question=input("Your name? "))
        elif what == "broken":
            raise OSError("no disk")
        Path("ran").write_text("to its end")


    if __name__ == "__main__":
        main(sys.argv[1])
    """)


def _send(ours: Connection, arguments: dict[str, Any]) -> None:
    try:
        ours.send(("returned", run_program(**arguments)))
    except BaseException as error:
        ours.send(("raised", repr(error)))


def outcome(folder: Path, command: list[str], until: str, **given: Any) -> Any:
    """Run an episode in a process of its own, as train modules do."""
    theirs, ours = multiprocessing.Pipe(duplex=False)
    arguments = {"folder": folder, "command": command, "until": until, **given}
    process = multiprocessing.get_context("fork").Process(
        target=_send, args=(ours, arguments)
    )
    process.start()
    assert theirs.poll(30), "the program never ended"
    process.join()
    return theirs.recv()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "desk.py").write_text(DESK)
    return tmp_path


WAYS = {
    "a file": ["desk.py"],
    "a module": ["-m", "desk"],
}


@pytest.mark.parametrize("way", WAYS)
def test_the_program_makes_the_agent_and_ends_with_the_episode(
    folder: Path, way: str
) -> None:
    told = {"question": "how many?"}
    ended = outcome(folder, [*WAYS[way], "desk"], "desk.py:Desk.answer", given=told)
    assert ended == ("returned", "fruit: how many? ['apples are red']")
    assert (folder / "ran").read_text() == "so far"


def test_calls_before_it_are_told_as_well(folder: Path) -> None:
    before = {
        "desk.py:Desk.__init__": {"topic": "nuts"},
        "desk.py:Desk.learn": {"fact": 1},
    }
    ended = outcome(folder, ["desk.py", "desk"], "desk.py:Desk.answer", before=before)
    assert ended == ("returned", "nuts: what is asked here? [1]")


def test_an_attribute_of_what_the_program_gives_is_set(folder: Path) -> None:
    told = {"ticket.text": "hi", "ticket.folder": "outbox"}
    ended = outcome(folder, ["desk.py", "ticket"], "desk.py:read", given=told)
    assert ended[1].startswith("Ticket hi") and ended[1].endswith("Path")


def test_a_row_is_made_an_object_of_the_program_s_own_class(folder: Path) -> None:
    told = {"ticket": {"text": "hi", "folder": "outbox"}}
    ended = outcome(folder, ["desk.py", "ticket"], "desk.py:whole", given=told)
    assert ended[1].startswith("Ticket(text='hi', folder=")
    assert ended[1].endswith(" True")


def test_a_constructor_that_is_made_for_its_class(folder: Path) -> None:
    before = {"desk.py:Topic.__init__": {"name": ""}}
    ended = outcome(folder, ["desk.py", "topic"], "desk.py:told", before=before)
    assert ended[0] == "raised" and "without a call of desk.py:told" in ended[1]


def test_options_that_nothing_declares(folder: Path) -> None:
    told = {"question": "why?"}
    ended = outcome(folder, ["desk.py", "topic"], "desk.py:told", given=told)
    assert ended == ("returned", "why?")


def test_an_error_of_the_episode_is_raised_though_the_program_catches_it(
    folder: Path,
) -> None:
    told = {"question": "why?"}
    ended = outcome(folder, ["desk.py", "failing"], "desk.py:fail", given=told)
    assert ended == ("raised", "ValueError('why?')")


def test_an_episode_may_end_its_program(folder: Path) -> None:
    ended = outcome(folder, ["desk.py", "leaving"], "desk.py:leave")
    assert ended == ("returned", None)


def test_a_stream_is_read_to_its_end(folder: Path) -> None:
    told = {"question": "why?"}
    ended = outcome(folder, ["desk.py", "streams"], "desk.py:stream", given=told)
    assert ended == ("returned", None)
    assert (folder / "ran").read_text() == "so far"


@pytest.mark.parametrize("until", ["later", "promised"])
def test_of_several_calls_at_once_one_runs(folder: Path, until: str) -> None:
    told = {"question": "why?"}
    ended = outcome(folder, ["desk.py", "many"], f"desk.py:{until}", given=told)
    ran = {"later": 1, "promised": 4}  # three of another function ran before
    assert ended == ("returned", ("why?", ran[until]))


def test_of_several_threads_one_runs(folder: Path) -> None:
    told = {"question": "why?"}
    ended = outcome(folder, ["desk.py", "pool"], "desk.py:told", given=told)
    assert ended == ("returned", "why?")


def test_what_was_typed_before_the_call_is_typed_again(folder: Path) -> None:
    ended = outcome(folder, ["desk.py", "typed"], "desk.py:told", inputs=["Ada"])
    assert ended == ("returned", "Ada")


def test_a_test_is_a_program(folder: Path) -> None:
    (folder / "test_desk.py").write_text(
        "import desk\n\n\ndef test_it(monkeypatch):\n"
        "    monkeypatch.setattr(desk.Desk, 'learn', lambda self, fact: self.known.append('mocked'))\n"
        "    agent = desk.Desk('fruit')\n    agent.learn('?')\n    assert agent.answer('?') == '?'\n"
    )
    told = {"question": "why?"}
    for command in (["-m", "pytest", "-q"], ["pytest", "-q"]):
        ended = outcome(folder, command, "desk.py:Desk.answer", given=told)
        assert ended == ("returned", "fruit: why? ['mocked']")


def test_what_the_program_raises_before_the_call_is_said(folder: Path) -> None:
    ended = outcome(folder, ["desk.py", "broken"], "desk.py:told")
    assert ended == ("raised", "OSError('no disk')")


def test_a_command_that_is_not_there_is_named(folder: Path) -> None:
    ended = outcome(folder, ["desks", "topic"], "desk.py:told")
    assert ended[0] == "raised" and "desks is no file here" in ended[1]
