"""An object that a module makes once and each episode is given is shared, if it changes."""

from __future__ import annotations

from pathlib import Path

import pytest

from art_adapt.source import read_source
from art_adapt.survey.side_effects.harm import Harm
from art_adapt.survey.survey import survey

AGENT = """\
from openai import OpenAI
from service import Booking


def call(message: str, booking: Booking) -> str:
    messages = [{"role": "user", "content": message}]
    while True:
        reply = OpenAI().chat.completions.create(model="m", messages=messages).choices[0].message
        if not reply.tool_calls:
            return reply.content or ""
        messages.append(reply)
        for each in reply.tool_calls:
            told = booking.book(each.function.arguments)
            messages.append({"role": "tool", "tool_call_id": each.id, "content": told})
"""
BY = "from agent import call\nfrom service import Booking\n"
# How the caller has the object, and what its book() does.
SHARED = {
    "an entry": (
        f"{BY}booking = Booking()\nif __name__ == '__main__':\n    print(call('Book.', booking))\n",
        "if self.taken.get(slot):\n            return 'taken'\n        self.taken[slot] = True\n        return 'booked'",
    ),
    "a counter": (
        f"{BY}booking = Booking()\nif __name__ == '__main__':\n    print(call('Book.', booking=booking))\n",
        "self.count += 1\n        return str(self.count)",
    ),
    "a list": (
        f"{BY}DESK = Booking()\ndef main(text):\n    return call(text, DESK)\n",
        "self.log.append(slot)\n        return str(len(self.log))",
    ),
    "of another module": (
        "from agent import call\nfrom state import desk\nif __name__ == '__main__':\n    print(call('Book.', desk))\n",
        "self.log.append(slot)\n        return str(len(self.log))",
    ),
    "a class of the same file": (
        "from agent import call\n\nclass Desk:\n    def __init__(self):\n        self.log = []\n\n"
        "    def book(self, slot):\n        self.log.append(slot)\n        return str(len(self.log))\n\n\n"
        "desk = Desk()\nif __name__ == '__main__':\n    print(call('Book.', desk))\n",
        "return 'booked'",
    ),
    "a table of answers": (
        f"{BY}booking = Booking()\nif __name__ == '__main__':\n    print(call('Book.', booking))\n",
        "if slot in self.taken:\n            return {'error': 'taken'}\n        self.taken[slot] = 1\n        return 'ok'",
    ),
}  # fmt: skip
APART = {
    "it never changes": (
        f"{BY}booking = Booking()\nif __name__ == '__main__':\n    print(call('Book.', booking))\n",
        "return str(self.taken)",
    ),
    "a cache of its own": (
        f"{BY}booking = Booking()\nif __name__ == '__main__':\n    print(call('Book.', booking))\n",
        "if slot in self.taken:\n            return self.taken[slot]\n        self.taken[slot] = slot.upper()\n        return self.taken[slot]",
    ),
    "made for each call": (
        f"{BY}print(call('Book.', Booking()))\n",
        "self.count += 1\n        return str(self.count)",
    ),
    "made by a function": (
        f"{BY}def main(text):\n    booking = Booking()\n    return call(text, booking)\n",
        "self.count += 1\n        return str(self.count)",
    ),
}  # fmt: skip


def shared(tmp_path: Path, caller: str, body: str) -> list[str]:
    (tmp_path / "pyproject.toml").touch()
    (tmp_path / "agent.py").write_text(AGENT)
    (tmp_path / "api.py").write_text(caller)
    (tmp_path / "state.py").write_text(
        "from service import Booking\n\ndesk = Booking()\n"
    )
    (tmp_path / "service.py").write_text(
        "class Booking:\n    def __init__(self):\n        self.taken, self.log, self.count = {}, [], 0\n\n"
        f"    def book(self, slot):\n        {body}\n"
    )
    found = survey([read_source(tmp_path / "agent.py")])
    return [
        effect.what
        for file in found.files
        for effect in file.effects
        if effect.harm is Harm.SHARED
    ]


@pytest.mark.parametrize("kind", SHARED)
def test_an_object_that_episodes_are_given_is_shared(kind: str, tmp_path: Path) -> None:
    (what,) = shared(tmp_path, *SHARED[kind])
    assert what.endswith(".book changes")


@pytest.mark.parametrize("kind", APART)
def test_what_no_other_episode_finds_changed_is_not(kind: str, tmp_path: Path) -> None:
    assert shared(tmp_path, *APART[kind]) == []
