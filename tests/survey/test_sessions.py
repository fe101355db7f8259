"""An agent that keeps its conversations by key: what begins one is called first, and returns it."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

import pytest
from agent_files import art_adapt

# What follows ``session = ...``.
ASKS = """\
session.append({"role": "user", "content": text})
message = OpenAI().chat.completions.create(model="m", messages=session).choices[0].message
session.append({"role": "assistant", "content": message.content})
return message.content
"""
AWAITS = ASKS.replace("OpenAI()", "(await AsyncOpenAI()").replace(
    "=session)", "=session))"
)


CHOSEN = {
    "method": """
        class Desk:
            def __init__(self):
                self.sessions: dict[str, list] = {}

            def open(self, traveller: str) -> str:
                sid = uuid.uuid4().hex
                self.sessions[sid] = [{"role": "system", "content": traveller}]
                return sid

            def say(self, session_id: str, text: str) -> str:
                session = self.sessions[session_id]
        """,
    "functions": """
        SESSIONS = {}

        def open(traveller: str) -> str:
            sid = uuid.uuid4().hex
            SESSIONS[sid] = [{"role": "system", "content": traveller}]
            return sid

        def say(session_id: str, text: str) -> str:
            session = SESSIONS.get(session_id)
            if session is None:
                raise KeyError(session_id)
        """,
    "helper": """
        class Desk:
            def __init__(self):
                self._open = dict()

            def _find(self, key):
                if key not in self._open:
                    raise KeyError(key)
                return self._open[key]

            def open(self, traveller: str):
                key = str(uuid.uuid4())
                self._open[key] = [{"role": "system", "content": traveller}]
                return key

            def say(self, session_id: str, text: str) -> str:
                session = self._find(session_id)
        """,
    "store": """
        class Store:
            def __init__(self):
                self.kept = {}

            def add(self, first):
                number = len(self.kept)
                self.kept[number] = [first]
                return number

            def get(self, number):
                return self.kept[number]

        class Desk:
            def __init__(self):
                self.store = Store()

            def open(self, traveller: str):
                return self.store.add({"role": "system", "content": traveller})

            def say(self, session_id: int, text: str) -> str:
                session = self.store.get(session_id)
        """,
    "async": """
        class Desk:
            def __init__(self):
                self.sessions = {}

            async def open(self, traveller: str) -> str:
                sid = uuid.uuid4().hex
                self.sessions[sid] = [{"role": "system", "content": traveller}]
                return sid

            async def say(self, session_id: str, text: str) -> str:
                session = self.sessions[session_id]
        """,
    "record": """
        @dataclass
        class Session:
            id: str
            messages: list

        class Desk:
            def __init__(self):
                self.sessions = {}

            def open(self, traveller: str) -> str:
                made = Session(uuid.uuid4().hex, [{"role": "system", "content": traveller}])
                self.sessions[made.id] = made
                return made.id

            def say(self, session_id: str, text: str) -> str:
                session = self.sessions[session_id].messages
        """,
}
# Nothing has to begin these conversations, or it is not known what does.
OTHERS = {
    "made there": """
        SESSIONS = {}

        def open(traveller: str) -> str:
            SESSIONS["7"] = [traveller]
            return "7"

        def say(session_id: str, text: str) -> str:
            if session_id not in SESSIONS:
                SESSIONS[session_id] = []
            session = SESSIONS[session_id]
        """,
    "made by the dict": """
        SESSIONS = defaultdict(list)

        def open(traveller: str) -> str:
            sid = uuid.uuid4().hex
            SESSIONS[sid].append(traveller)
            SESSIONS[sid] = [traveller]
            return sid

        def say(session_id: str, text: str) -> str:
            session = SESSIONS[session_id]
        """,
    "filled": """
        PROMPTS = {"short": ["Be brief."]}

        def add(prompt: str) -> str:
            key = prompt[:8]
            PROMPTS[key] = [prompt]
            return key

        def say(session_id: str, text: str) -> str:
            session = list(PROMPTS[session_id])
        """,
    "another's own dict": """
        def parse(text: str) -> str:
            options = {}
            options[text] = 1
            return text

        def say(session_id: str, text: str) -> str:
            options = {}
            session = [str(options.get(session_id))]
        """,
    "a cache of answers": """
        ANSWERS = {}

        def remember(answer: str) -> str:
            key = uuid.uuid4().hex
            ANSWERS[key] = answer
            return key

        def say(session_id: str, text: str) -> str:
            if session_id in ANSWERS:
                return ANSWERS[session_id]
            session = []
        """,
    "a default": """
        PROMPTS = {}

        def set_prompt(session_id: str, prompt: str) -> str:
            PROMPTS[session_id] = prompt
            return session_id

        def say(session_id: str, text: str) -> str:
            session = [{"role": "system", "content": PROMPTS.get(session_id, "Help.")}]
        """,
    "filled by the module": """
        PROMPTS = {}
        PROMPTS.update(short=["Be brief."])

        def add(prompt: str) -> str:
            key = prompt[:8]
            PROMPTS[key] = [prompt]
            return key

        def say(session_id: str, text: str) -> str:
            session = list(PROMPTS[session_id])
        """,
    "filled by its constructor": """
        class Desk:
            def __init__(self):
                self.personas = {}
                self.personas["pirate"] = ["Arr."]

            def add(self, prompt: str) -> str:
                self.personas[prompt] = [prompt]
                return prompt

            def say(self, session_id: str, text: str) -> str:
                session = list(self.personas[session_id])
        """,
    "no function to call": """
        class Desk:
            def __init__(self):
                self.kept = {}

            def _open(self, prompt: str) -> str:
                key = uuid.uuid4().hex
                self.kept[key] = [prompt]
                return key

            def say(self, session_id: str, text: str) -> str:
                session = list(self.kept[session_id])
        """,
    "a function that something decorates": """
        OPEN = {}

        def later(function):
            return lambda traveller: print(function(traveller))

        @later
        def open(traveller: str) -> str:
            sid = uuid.uuid4().hex
            OPEN[sid] = [traveller]
            return sid

        def say(session_id: str, text: str) -> str:
            session = OPEN[session_id]
        """,
    "a generator": """
        OPEN = {}

        def open(traveller: str):
            sid = uuid.uuid4().hex
            OPEN[sid] = [traveller]
            yield traveller
            return sid

        def say(session_id: str, text: str) -> str:
            session = OPEN[session_id]
        """,
    "a coroutine beside a function": """
        OPEN = {}

        async def open(traveller: str) -> str:
            sid = uuid.uuid4().hex
            OPEN[sid] = [traveller]
            return sid

        def say(session_id: str, text: str) -> str:
            session = OPEN[session_id]
        """,
    "both take a text": """
        SESSIONS = {}

        def open(text: str) -> str:
            sid = uuid.uuid4().hex
            SESSIONS[sid] = [text]
            return sid

        def say(session_id: str, text: str) -> str:
            session = SESSIONS[session_id]
        """,
    "returns the key that it is given": """
        DOCUMENTS = {}

        def add(title: str, body: str) -> str:
            DOCUMENTS[title] = [body]
            return title

        def say(session_id: str, text: str) -> str:
            session = DOCUMENTS[session_id]
        """,
    "given its key": """
        class Desk:
            def __init__(self):
                self.sessions = {}

            def begin(self, key: str, traveller: str) -> None:
                self.sessions[key] = [{"role": "system", "content": traveller}]

            def say(self, session_id: str, text: str) -> str:
                session = self.sessions[session_id]
        """,
    "counted": """
        FAILURES = {}

        def fail(session_id: str) -> str:
            FAILURES[session_id] += 1
            return session_id

        def say(session_id: str, text: str) -> str:
            session = [str(FAILURES[session_id])]
        """,
    "two begin": """
        SESSIONS = {}

        def open(traveller: str) -> str:
            sid = uuid.uuid4().hex
            SESSIONS[sid] = [traveller]
            return sid

        def copy(other: str) -> str:
            sid = uuid.uuid4().hex
            SESSIONS[sid] = list(SESSIONS[other])
            return sid

        def say(session_id: str, text: str) -> str:
            session = SESSIONS[session_id]
        """,
}
HEAD = """\
import uuid
from collections import defaultdict
from dataclasses import dataclass
from openai import AsyncOpenAI, OpenAI

"""


def episode_of(folder: Path, text: str) -> str:
    asks = AWAITS if "async def say" in text else ASKS
    last = text.rstrip().splitlines()[-1]
    margin = last[: len(last) - len(last.lstrip())].removesuffix(
        "    " * ("raise" in last)
    )
    body = "".join(f"{margin}{line}\n" for line in asks.splitlines())
    (folder / "desk.py").write_text(HEAD + dedent(f"{text.rstrip()}\n{body}"))
    run = art_adapt("desk.py", "--yes", cwd=folder)
    assert run.returncode == 0, run.stderr.decode()
    module = (folder / "desk_train.py").read_text()
    return module.partition("class Scenario")[2].partition("@training.")[0]


@pytest.mark.parametrize("name", CHOSEN)
def test_what_returns_the_key_of_a_conversation_is_called_first(
    tmp_path: Path, name: str
) -> None:
    episode = episode_of(tmp_path, CHOSEN[name])
    assert "    session_id: " not in episode and "    traveller: str" in episode
    assert "open(traveller=scenario.traveller), text=scenario.text" in " ".join(
        episode.split()
    )


@pytest.mark.parametrize("name", OTHERS)
def test_a_key_is_the_scenarios_where_nothing_has_to_begin(
    tmp_path: Path, name: str
) -> None:
    episode = episode_of(tmp_path, OTHERS[name])
    assert "    session_id: str" in episode
    assert "session_id=scenario.session_id, text=scenario.text" in " ".join(
        episode.split()
    )
    assert not any(
        f"{each}(" in episode for each in ("open", "begin", "remember", "add", "fail")
    )
