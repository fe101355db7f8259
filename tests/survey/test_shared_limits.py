"""Semaphores that outlive an episode: a report and a train module say what they let through."""

from __future__ import annotations

from pathlib import Path

import pytest
from agent_files import art_adapt
from looking_agent import effects_of, looking_agent

from art_adapt.survey.side_effects.harm import Harm

USES = "with slots:\n    print(text)"
KEPT = [
    ("import threading\nslots = threading.Semaphore(4)", USES, "slots of 4"),
    ("from threading import Semaphore\nslots = Semaphore(4)", USES, "slots of 4"),
    (
        "import threading as t\nMOST = 4\nslots = t.BoundedSemaphore(value=MOST)",
        USES,
        "slots of MOST",
    ),
    (
        "import threading\nslots = None",
        f"global slots\nif slots is None:\n    slots = threading.Semaphore(4)\n{USES}",
        "slots of 4",
    ),
    (
        "import threading\nslots = threading.Semaphore()",
        "slots.acquire()",
        "slots of 1",
    ),
    (
        "import threading\nclass Api:\n    slots = threading.Semaphore(4)\n"
        "    def ask(self, text):\n        with self.slots:\n            print(text)",
        "Api().ask(text)",
        "self.slots of 4",
    ),
    (
        "import asyncio\nslots = asyncio.Semaphore(4)\nasync def ask(text):\n"
        "    async with slots:\n        return text",
        "asyncio.run(ask(text))",
        "slots of 4",
    ),
]
NEW_EACH_TIME = [
    ("import threading", f"slots = threading.Semaphore(4)\n{USES}"),
    ("import threading", "with threading.Semaphore(4):\n    print(text)"),
    (
        "import threading\nclass Api:\n    def __init__(self):\n"
        "        self.slots = threading.Semaphore(4)\n"
        "    def ask(self, text):\n        with self.slots:\n            print(text)",
        "Api().ask(text)",
    ),
    ("import threading\nslots = threading.Lock()", USES),
]


@pytest.mark.parametrize(("before", "look", "what"), KEPT)
def test_what_is_kept_is_said(before: str, look: str, what: str) -> None:
    (found,) = [
        e for e in effects_of(looking_agent(look, before)) if e.harm is Harm.LIMITS
    ]
    assert found.what == what


@pytest.mark.parametrize(("before", "look"), NEW_EACH_TIME)
def test_what_an_episode_makes_is_its_own(before: str, look: str) -> None:
    assert Harm.LIMITS not in {e.harm for e in effects_of(looking_agent(look, before))}


def test_a_process_each_has_its_own(tmp_path: Path) -> None:
    before, look, _ = KEPT[0]
    (tmp_path / "agent.py").write_text(looking_agent(look, before))
    module = tmp_path / "agent_train.py"
    shared = art_adapt("--isolated", "agent.py", cwd=tmp_path).stdout
    assert b"slots of 4 agent.py:" in shared
    assert "slots of 4 lets no more through at a time" in module.read_text()
    apart = art_adapt("--isolated", "--isolate", "process", "agent.py", cwd=tmp_path)
    (said,) = [line for line in apart.stdout.splitlines() if b"slots of 4" in line]
    assert said.endswith(b": each episode gets a process of its own")
    assert "slots of 4" not in module.read_text()
