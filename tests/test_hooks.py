"""The hooks file as users get it: the identity where there is no recorder (G3)."""

from __future__ import annotations

import functools
import inspect
import os
import runpy
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest import mock

import openai
import pytest
from scripted_engine import Engine
from trajectories import Trajectory, choices, rollout

from art_adapt import hooks_file
from art_adapt.hooks import recorded
from art_adapt.recording import RecordingError

USER: Any = [{"role": "user", "content": "Delft?"}]
PRODUCTION = """
import functools, inspect, pickle, sys
from unittest import mock
import openai
before = set(sys.modules)
from art_recording import carried, final_answer, recorded, reward
added = set(sys.modules) - before
assert added <= {"art_recording"} | set(sys.stdlib_module_names), added
"""


def run(script: str, folder: Path, **variables: str) -> str:
    """Run ``script`` beside the hooks file, in a process that has no recorder."""
    (folder / hooks_file.NAME).write_bytes(hooks_file.contents())
    (folder / "script.py").write_text(PRODUCTION + script)
    done = subprocess.run(
        [sys.executable, "script.py"],
        cwd=folder,
        env={"PATH": os.environ["PATH"], **variables},
        capture_output=True,
        check=False,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout.decode()


@pytest.fixture
def client() -> Iterator[openai.OpenAI]:
    with Engine([{"content": "Yes."}] * 4) as engine:
        yield openai.OpenAI(base_url=engine.base_url, api_key="sk-production")


def test_the_file_is_short_and_needs_nothing() -> None:
    data = hooks_file.contents()
    assert data.count(b"\n") < 100
    imported = {
        line.split()[1].partition(b".")[0].decode()
        for line in data.splitlines()
        if line.startswith((b"import ", b"from "))
    }
    assert imported <= set(sys.stdlib_module_names)


def test_in_production_every_hook_returns_what_it_is_given(tmp_path: Path) -> None:
    run(
        """
client = openai.OpenAI(api_key="k", base_url="http://127.0.0.1:9")
create = client.chat.completions.create


def calls():
    hooked = recorded(create)
    assert hooked is create and hooked.__self__ is client.chat.completions
    assert carried(print) is print and reward(1) == 1
    given = object()
    assert final_answer(given) is given and final_answer(1, 2) == (1, 2)
    assert recorded(functools.partial(create, model="m")).keywords == {"model": "m"}
    assert pickle.loads(pickle.dumps(recorded(len))) is len
    specified = mock.create_autospec(client)
    assert recorded(specified.chat) is specified.chat


calls()
assert not any(name.startswith("art_adapt") for name in sys.modules)
""",
        tmp_path,
    )


def test_what_a_module_or_a_class_stores_is_the_call_in_all_but_identity(
    tmp_path: Path,
) -> None:
    """Their bodies run once, so the hook asks for the recorder at each call instead."""
    run(
        """
client = openai.OpenAI(api_key="k", base_url="http://127.0.0.1:9")
create = client.chat.completions.create


class Agent:
    create = recorded(client.chat.completions.create)


stored = Agent().create
assert inspect.ismethod(stored) and stored.__self__ is client.chat.completions
assert inspect.signature(stored) == inspect.signature(create)
assert recorded(len)("abc") == 3 and recorded(len).__name__ == "len"
try:
    Agent().create(model="m")
except TypeError as error:
    assert "Missing required arguments" in str(error), error
""",
        tmp_path,
    )


def test_a_stored_call_binds_as_what_it_stands_for(tmp_path: Path) -> None:
    run(
        """
def ask(*given, **named):
    return given, named


class Agent:
    partial = recorded(functools.partial(ask, "first"))
    method = recorded(ask)
    double = recorded(mock.MagicMock(return_value="doubled"))
    built_in = recorded(len)


agent = Agent()
assert agent.partial(2) == (("first", 2), {}) and Agent.partial(2) == (("first", 2), {})
assert agent.method(2) == ((agent, 2), {}) and Agent.method(2) == ((2,), {})
assert agent.method.__self__ is agent and agent.method == agent.method
assert agent.double(2) == "doubled" and agent.built_in("abc") == 3
agent.double.assert_called_once_with(2)
agent.double.return_value = "set"
assert Agent.double() == "set" and "set" in repr(Agent.double.return_value)
assert recorded(ask) == ask and ask == recorded(ask) and recorded(ask) == recorded(ask)
assert recorded(ask) != len and hash(recorded(ask)) == hash(ask)
assert isinstance(recorded(ask), type(ask)) and inspect.isfunction(recorded(ask))
assert pickle.loads(pickle.dumps(recorded(len))) == len
recorded(ask).mark = 1
assert ask.mark == 1
del recorded(ask).mark
assert not hasattr(ask, "mark") and "__code__" in dir(recorded(ask))
""",
        tmp_path,
    )


ODD = """
class OddAttributes:
    @property
    def __dict__(self):
        raise RuntimeError("no attributes")

class OddName:
    __name__ = 5

class NoAttributes:
    def __getattr__(self, name):
        raise RuntimeError("no " + name)

class OddMapping:
    __dict__ = 5

ODD = [OddAttributes(), OddName(), NoAttributes(), OddMapping()]
for each in ODD:
    type(each).__call__ = lambda self, *a, **k: (a, k)
"""


def test_callables_with_odd_attributes_are_called_all_the_same(tmp_path: Path) -> None:
    stored = (
        "\nfor each in ODD:\n    assert recorded(each)(1, a=2) == ((1,), {'a': 2})\n"
    )
    run(ODD + stored, tmp_path)
    defined: dict[str, Any] = {}
    exec(ODD, defined)
    for each in defined["ODD"]:
        assert recorded(each)(1, a=2) == ((1,), {"a": 2})


def test_a_process_that_a_rollout_starts_does_not_call_production(
    tmp_path: Path,
) -> None:
    said = run(
        """
try:
    recorded(print)("production was called")
except RuntimeError as error:
    print(error)
""",
        tmp_path,
        ART_RECORDING_PROCESS="1",
    )
    assert "another process" in said and "was called" not in said


BEFORE = """
class Agent:
    create = recorded(openai.OpenAI(api_key="production").chat.completions.create)

    def __init__(self):
        self.stored = recorded(print)

    def calls_in_place(self):
        return recorded(len)("abc")


calling = Agent.__new__(Agent)
assert calling.calls_in_place() == 3
{agent}
from types import SimpleNamespace
from art_adapt.recording import RecordingError, rollout

episode = SimpleNamespace(
    messages_and_choices=[], additional_histories=[], metadata={{}}, tools=None
)
try:
    with rollout(episode, base_url={url!r}, api_key="k", model="m"):
        calling.create(model="production", messages=[{{"role": "user", "content": "?"}}])
except RecordingError as error:
    print(error)
print(len(episode.messages_and_choices), "recorded")
"""


def test_what_a_class_stored_before_there_was_a_recorder_is_recorded(
    tmp_path: Path,
) -> None:
    with Engine([{"content": "Yes."}]) as engine:
        said = run(BEFORE.format(agent="", url=engine.base_url), tmp_path)
        assert engine.log[0].request["model"] == "m"
    assert said == "2 recorded\n"


def test_what_a_function_stored_before_there_was_a_recorder_is_noticed(
    tmp_path: Path,
) -> None:
    """It has the production call, and nothing would tell."""
    with Engine([{"content": "Yes."}]) as engine:
        script = BEFORE.format(agent="Agent()", url=engine.base_url)
        said = run(script, tmp_path)
        assert engine.log == []
    assert "script.py:14: recorded(...) was stored here before" in said
    assert said.endswith("0 recorded\n")


# ------------------------------------------------- in a training process, no rollout open


def test_the_recorders_hook_looks_like_the_call(client: openai.OpenAI) -> None:
    create = client.chat.completions.create
    hooked = recorded(create)
    assert inspect.ismethod(hooked)
    assert getattr(hooked, "__self__", None) is client.chat.completions
    assert inspect.signature(hooked) == inspect.signature(create)
    assert (hooked.__name__, hooked.__doc__) == (create.__name__, create.__doc__)

    class Completions:
        async def create(self, messages: Any) -> None: ...

    assert inspect.iscoroutinefunction(recorded(Completions().create))
    partial = functools.partial(recorded(create), model="m")
    assert "Yes" in str(partial(messages=USER).choices[0])
    specified = mock.create_autospec(client)
    recorded(specified.chat.completions.create)(model="m", messages=USER)
    specified.chat.completions.create.assert_called_once()


def test_a_class_attribute_swallows_no_argument(client: openai.OpenAI) -> None:
    class Agent:
        create = recorded(client.chat.completions.create)

    assert Agent().create(model="m", messages=USER).choices
    trajectory = Trajectory()
    with Engine([{"content": "Recorded."}]) as engine, rollout(trajectory, engine):
        Agent().create(model="m", messages=USER)
    assert [c.message.content for c in choices(trajectory)] == ["Recorded."]


def test_nor_does_a_partial_in_a_training_process(client: openai.OpenAI) -> None:
    class Agent:
        ask = recorded(functools.partial(client.chat.completions.create, model="m"))
        double = recorded(mock.MagicMock())

    assert Agent().ask(messages=USER).choices
    trajectory = Trajectory()
    with Engine([{"content": "Recorded."}]) as engine, rollout(trajectory, engine):
        Agent().ask(messages=USER)
    assert [c.message.content for c in choices(trajectory)] == ["Recorded."]
    Agent().double(1)
    Agent.double.assert_called_once_with(1)


STORED_IN_A_BODY = recorded(getattr(openai, "asks_in_a_later_version", None))


def test_a_call_that_a_client_lacks_stays_none(client: openai.OpenAI) -> None:
    assert STORED_IN_A_BODY is None
    completions = client.chat.completions
    assert recorded(getattr(completions, "asked", None)) is None
    trajectory = Trajectory()
    with Engine([{"content": "Recorded."}]) as engine, rollout(trajectory, engine):
        assert recorded(getattr(completions, "asked", None)) is None
        ask = recorded(getattr(completions, "asked", None)) or recorded(
            completions.create
        )
        ask(model="gpt-4o", messages=USER)
    assert len(choices(trajectory)) == 1


def test_hooks_of_another_version_are_refused(tmp_path: Path) -> None:
    data = hooks_file.contents().replace(b"PROTOCOL = 1", b"PROTOCOL = 99")
    (tmp_path / hooks_file.NAME).write_bytes(data)
    other = runpy.run_path(str(tmp_path / hooks_file.NAME))
    with pytest.raises(RecordingError, match=r"protocol 99.*art-adapt"):
        other["recorded"](print)
