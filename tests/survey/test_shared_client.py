"""Side jobs that ask over the client that an agent is given need the real one."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path

import pytest
from agent_files import art_adapt
from openai import OpenAI

from art_adapt.calls import NOT_OF_POLICY
from art_adapt.source import Source
from art_adapt.survey.survey import survey

LOOP = """\
    def run(self, task: str) -> str:
        messages = [{"role": "user", "content": task}]
        while True:
            answer = self.client.chat.completions.create(model="gpt-4o", messages=messages, tools=TOOLS)
            message = answer.choices[0].message
            messages.append(message)
            if not message.tool_calls:
                return self.judged(message.content)
            for call in message.tool_calls:
                messages.append({"role": "tool", "tool_call_id": call.id, "content": tool(call)})
"""
HEAD = 'from dataclasses import dataclass, field\nfrom openai import OpenAI\nTOOLS = [{"type": "function"}]\n\n\n'
ASKS = ".chat.completions.create(model='gpt-4o-mini', messages=[dict(role='user', content=text)])"
GIVEN = "class Agent:\n    def __init__(self, client: OpenAI):\n        self.client = client\n"
SHARED = {
    "a critic gets it": (
        f"class Critic:\n    def __init__(self, llm):\n        self.llm = llm\n"
        f"    def critique(self, text):\n        return self.llm{ASKS}\n\n\n"
        "class Agent:\n    def __init__(self, client: OpenAI):\n        self.client = client\n"
        "        self.critic = Critic(client)\n\n"
        f"    def judged(self, text):\n        return self.critic.critique(text)\n\n{LOOP}"
    ),
    "a method of the agent asks it": (
        f"{GIVEN}\n    def judged(self, text):\n        return self.moderate(text)\n\n"
        f"    def moderate(self, text):\n        return self.client{ASKS}\n\n{LOOP}"
    ),
    "a function gets it": (
        f"def evaluate_answer(client, text):\n    return client{ASKS}\n\n\n"
        f"{GIVEN}\n    def judged(self, text):\n        return evaluate_answer(self.client, text)\n\n{LOOP}"
    ),
    "it is made from a key": (
        "class Agent:\n    def __init__(self, api_key: str):\n"
        "        self.client = OpenAI(api_key=api_key)\n\n"
        f"    def judged(self, text):\n        return self.moderate(text)\n\n"
        f"    def moderate(self, text):\n        return self.client{ASKS}\n\n{LOOP}"
    ),
    "a base class keeps it": (
        "class Base:\n    def __init__(self, client: OpenAI):\n        self.client = client\n\n"
        f"    def moderate(self, text):\n        return self.client{ASKS}\n\n\n"
        f"class Agent(Base):\n    def judged(self, text):\n        return self.moderate(text)\n\n{LOOP}"
    ),
    "a dataclass keeps it": (
        "@dataclass\nclass Agent:\n    client: OpenAI\n\n"
        "    def judged(self, text):\n        return self.moderate(text)\n\n"
        f"    def moderate(self, text):\n        return self.client{ASKS}\n\n{LOOP}"
    ),
    "a record's base keeps it": (
        "@dataclass\nclass Base:\n    client: OpenAI\n\n\n@dataclass\nclass Agent(Base):\n"
        "    strict: bool = True\n\n"
        "    def judged(self, text):\n        return self.moderate(text)\n\n"
        f"    def moderate(self, text):\n        return self.client{ASKS}\n\n{LOOP}"
    ),
    "a part of a dataclass gets it": (
        f"def moderate(agent: 'Agent', text):\n    return agent.client{ASKS}\n\n\n"
        "@dataclass\nclass Agent:\n    client: OpenAI\n\n"
        f"    def judged(self, text):\n        return moderate(self, text)\n\n{LOOP}"
    ),
    "it asks for embeddings": (
        f"{GIVEN}\n    def judged(self, text):\n        return near(self.client, text)\n\n{LOOP}\n\n"
        "def near(api, text):\n    return api.embeddings.create(model='e', input=[text])\n"
    ),
    "it speaks": (
        f"{GIVEN}\n    def judged(self, text):\n"
        f"        self.client.audio.speech.create(input=text)\n        return text\n\n{LOOP}"
    ),
}
APART = {
    "embeddings of its own": (
        f"own = OpenAI()\n\n\n{GIVEN}\n    def judged(self, text):\n"
        f"        return own.embeddings.create(model='e', input=[text])\n\n{LOOP}"
    ),
    "its own client": (
        f"own = OpenAI()\n\n\n{GIVEN}\n    def judged(self, text):\n        return self.moderate(text)\n\n"
        f"    def moderate(self, text):\n        return own{ASKS}\n\n{LOOP}"
    ),
    "a dataclass with another one": (
        "@dataclass\nclass Agent:\n    client: OpenAI\n"
        "    other: OpenAI = field(init=False, default_factory=OpenAI)\n\n"
        "    def judged(self, text):\n        return self.moderate(text)\n\n"
        f"    def moderate(self, text):\n        return self.other{ASKS}\n\n{LOOP}"
    ),
    "no side job": f"{GIVEN}\n    def judged(self, text):\n        return text\n\n{LOOP}",
}


def shares(text: str) -> bool:
    found = survey([Source(Path("/nowhere/agent.py"), (HEAD + text).encode())])
    assert found.entry_points[0].called == "Agent.run"
    return found.entry_points[0].shares_client


@pytest.mark.parametrize("text", SHARED.values(), ids=list(SHARED))
def test_it_is_shared(text: str) -> None:
    assert shares(text)


@pytest.mark.parametrize("text", APART.values(), ids=list(APART))
def test_it_is_the_policys_alone(text: str) -> None:
    assert not shares(text)


def test_what_no_engine_serves_is_what_clients_have() -> None:
    # Of openai's client: all that asks for anything but text.
    resources = {
        name
        for name, each in vars(OpenAI).items()
        if isinstance(each, cached_property) and not name.startswith("with_")
    }
    assert resources >= NOT_OF_POLICY


@pytest.mark.parametrize(
    ("made", "needs"),
    [
        ("OpenAI()", True),
        ("OpenAI(timeout=5)", True),
        ("OpenAI(api_key='k')", False),
        ("OpenAI(base_url=URL, api_key=KEY)", False),
        ("OpenAI(**{'api_key': KEY})", False),
        ("None", False),
    ],
)
def test_a_key_that_a_part_reads_itself_is_looked_for_before_a_run(
    made: str, needs: bool, tmp_path: Path
) -> None:
    """The judge's own client is made in each episode, where OPENAI_API_KEY has to be set."""
    (tmp_path / "agent.py").write_text(
        f"{HEAD}URL = KEY = 'x'\n\n\n"
        f"class Judge:\n    def __init__(self, llm):\n        self.llm = llm\n\n"
        f"    def critique(self, text):\n        return self.llm{ASKS}\n\n\n"
        "class Agent:\n    def __init__(self, client: OpenAI, judge=None):\n"
        "        self.client, self.judge = client, judge\n\n"
        f"    def judged(self, text):\n        return self.judge.critique(text)\n\n{LOOP}\n\n"
        f"def main():\n    llm = {made}\n    print(Agent(OpenAI(), Judge(llm)).run(input()))\n"
    )
    done = art_adapt("--isolated", "agent.py", cwd=tmp_path)
    assert done.returncode == 0, done.stderr.decode()
    module = (tmp_path / "agent_train.py").read_text()
    assert ('KEYS = ("OPENAI_API_KEY",)' in module) is needs


OWN_AGENT = """

class Agent:
    def __init__(self, client):
        self.client = client

    def run(self, task: str) -> str:
        messages = [{"role": "user", "content": task}]
        answer = self.client.chat.completions.create(model="m", messages=messages)
        return answer.choices[0].message.content


"""


def _module(folder: Path, library: str, run: str) -> str:
    """Return the train module of an agent that is run with a client of a library."""
    program = f"from {library} import OpenAI\n{OWN_AGENT}{run}"
    (folder / "agent.py").write_text(program)
    assert art_adapt("--isolated", "agent.py", cwd=folder).returncode == 0
    return (folder / "agent_train.py").read_text()


WRAPPED = {
    "by a function": "def make():\n    return OpenAI(api_key='k')\n\n\ndef main():\n    Agent(make()).run(input())\n",
    "in the call": "def main():\n    Agent(OpenAI()).run(input())\n",
    "by a name": "def main():\n    client = OpenAI(max_retries=2)\n    Agent(client=client).run(input())\n",
    "of the module": "shared = OpenAI()\n\n\ndef main():\n    Agent(shared).run(input())\n",
}


@pytest.mark.parametrize("kind", WRAPPED)
@pytest.mark.parametrize("library", ["langfuse.openai", "openai"])
def test_a_client_of_another_library_stays_that(
    kind: str, library: str, tmp_path: Path
) -> None:
    """It takes arguments that openai's own refuses: ``langfuse_prompt``."""
    module = _module(tmp_path, library, WRAPPED[kind])
    is_own = "OpenAI(**training.policy_endpoint())" in module
    assert is_own == (library == "openai"), module.partition("def episode")[2][:300]


PRIVATE_CLIENTS = (
    "OpenAI(api_key='sk-proj-0123456789abcdefghij')",
    "OpenAI(default_headers={'X-Auth': 'k3y'})",
    "OpenAI(base_url='https://gateway.example/v1?token=k3y')",
)


@pytest.mark.parametrize("made", PRIVATE_CLIENTS)
def test_a_key_in_the_source_is_not_copied(made: str, tmp_path: Path) -> None:
    run = f"def main():\n    client = {made}\n    Agent(client).run(input())\n"
    module = _module(tmp_path, "langfuse.openai", run)
    assert "k3y" not in module and "sk-proj" not in module
    assert "client = OpenAI(**training.policy_endpoint())" in module


def test_a_client_that_another_file_imports_from_openai_is_openais(
    tmp_path: Path,
) -> None:
    (tmp_path / "clients.py").write_text("from openai import OpenAI\n")
    run = "def main():\n    Agent(OpenAI(api_key=open('key').read())).run(input())\n"
    module = _module(tmp_path, "clients", run)
    assert "client = OpenAI(**training.policy_endpoint())" in module
