"""What of an entry point's parameters is a scenario's."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from agent_files import art_adapt

START = """\
from dataclasses import dataclass, field

from openai import OpenAI

client = OpenAI()


@dataclass
class State:
    log: list[str] = field(default_factory=list)
    note: str | None = None


@dataclass
class Settings:
    depth: int = 3


"""
ASK = """\
        messages = [{{"role": "user", "content": f"{{{value}}} {{self.rules}}"}}]
        reply = client.chat.completions.create(model="m", messages=messages)
        return reply.choices[0].message.content
"""


@pytest.mark.parametrize(
    ("parameters", "value", "fields"),
    [
        ("question: str, settings: Settings", "question", {"rules", "question"}),
        # The object that is required holds the task, though it requires nothing itself.
        ("state: State", "state.log", {"rules", "log", "note"}),
        # So does what may be left out, where nothing else is the function's own.
        ("task: int | None = None, depth: int = 3", "task", {"rules", "task"}),
        ("", "0", {"rules"}),
    ],
)
def test_the_task_is_among_what_the_function_is_given(
    parameters: str, value: str, fields: set[str], tmp_path: Path
) -> None:
    text = (
        f"{START}class Agent:\n    def __init__(self, rules: str):\n        self.rules = rules\n\n"
        f"    def run(self, {parameters}):\n{ASK.format(value=value)}"
    )
    (tmp_path / "agent.py").write_text(text)
    done = art_adapt("--isolated", "agent.py", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    module = (tmp_path / "agent_train.py").read_text()
    scenario = module.partition("class Scenario")[2].partition("def episode")[0]
    assert set(re.findall(r"^    (\w+):", scenario, re.M)) == fields


def test_a_field_that_is_left_out_leaves_others_of_its_name_their_default(
    tmp_path: Path,
) -> None:
    text = (
        f"{START}@dataclass\nclass Plan:\n    goal: str\n    depth: int = 3\n\n\n"
        "class Agent:\n    def __init__(self, plan: Plan):\n        self.rules = plan.goal\n"
        "        self.depth = plan.depth\n\n"
        f"    def run(self, depth: int | None = None):\n        depth = depth or self.depth\n{ASK.format(value='depth')}"
    )
    (tmp_path / "agent.py").write_text(text)
    assert art_adapt("--isolated", "agent.py", cwd=tmp_path).returncode == 0
    module = (tmp_path / "agent_train.py").read_text()
    assert "depth: int | None = None" in module
    assert "Plan(goal=scenario.goal)" in module
    assert "agent.run(depth=scenario.depth)" in module


@pytest.mark.parametrize(
    ("default", "given"),
    [("", True), (' = ""', True), (' = "gpt-4o"', False), (" | None = None", False)],
)
def test_a_model_without_a_name_is_the_one_in_training(
    default: str, given: bool, tmp_path: Path
) -> None:
    text = (
        f"{START}class Agent:\n    def __init__(self, rules: str, model: str{default}):\n        self.rules = rules\n\n"
        f"    def run(self, task: str):\n{ASK.format(value='task')}"
    )
    (tmp_path / "agent.py").write_text(text)
    assert art_adapt("--isolated", "agent.py", cwd=tmp_path).returncode == 0
    module = (tmp_path / "agent_train.py").read_text()
    assert ("model=BASE_MODEL" in module) == given


@pytest.mark.parametrize(
    ("call", "passed"),
    [
        ("play('gpt-4o', 'GOODY')", '"gpt-4o"'),
        ("play(target='GOODY', model='gpt-4o')", '"gpt-4o"'),
        ("play(sys.argv[1], 'GOODY')", "BASE_MODEL"),
    ],
)
def test_a_models_name_is_the_projects_own(
    call: str, passed: str, tmp_path: Path
) -> None:
    """Agents look such names up, and refuse others."""
    (tmp_path / "agent.py").write_text(
        "import sys\n\nfrom openai import OpenAI\n\n\ndef play(model: str, target: str) -> str:\n"
        "    messages = [{'role': 'user', 'content': target}]\n"
        "    reply = OpenAI().chat.completions.create(model=model, messages=messages)\n"
        "    return reply.choices[0].message.content\n\n\n"
        f"if __name__ == '__main__':\n    print({call})\n"
    )
    assert art_adapt("--isolated", "agent.py", cwd=tmp_path).returncode == 0
    module = (tmp_path / "agent_train.py").read_text()
    assert f"return play(model={passed}, target=scenario.target)" in module


@pytest.mark.parametrize(
    "around",
    [
        "def serve(mcp):\n    @mcp.tool()\n    def ask(text):\n",
        "def decorate(function):\n    def ask(text):\n",
    ],
)
def test_a_function_in_another_one_is_not_called_module_level(
    around: str, tmp_path: Path
) -> None:
    (tmp_path / "agent.py").write_text(
        f"from openai import OpenAI\n\n\n{around}"
        "        messages = [{'role': 'user', 'content': text}]\n"
        "        return OpenAI().chat.completions.create(model='m', messages=messages)\n\n    return ask\n"
    )
    done = art_adapt("--isolated", "agent.py", cwd=tmp_path)
    assert done.returncode == 2
    said = done.stderr.decode()
    assert ".ask, which only its enclosing function can run" in said
    assert "module level" in said.partition("next:")[2]


MODES = """\
from enum import Enum, StrEnum
from typing import Literal, Optional

from openai import OpenAI


class Mode(Enum):
    FAST = "fast"
    SLOW = "slow"


class Level(int, Enum):
    LOW = 1
    HIGH = 2


class Place(StrEnum):
    HOME = "home"


"""


@pytest.mark.parametrize(
    ("annotation", "kind"),
    [
        ("Mode", 'Literal["fast", "slow"]'),
        ("Place", 'Literal["home"]'),
        ("Level", "int"),
        ("Literal['fast', 'slow']", 'Literal["fast", "slow"]'),
        ("Optional[Literal['fast', 'slow']]", 'Literal["fast", "slow"] | None'),
        ("Literal['fast', 2]", "Any"),
        (f"Literal[{', '.join(repr(str(n) * 9) for n in range(9))}]", "str"),
    ],
)
def test_a_field_admits_the_values_that_its_type_names(
    annotation: str, kind: str, tmp_path: Path
) -> None:
    (tmp_path / "agent.py").write_text(
        f"{MODES}def ask(task: str, mode: {annotation}) -> str:\n"
        "    messages = [{'role': 'user', 'content': f'{task} {mode}'}]\n"
        "    reply = OpenAI().chat.completions.create(model='m', messages=messages)\n"
        "    return reply.choices[0].message.content\n"
    )
    assert art_adapt("--isolated", "agent.py", cwd=tmp_path).returncode == 0
    module = (tmp_path / "agent_train.py").read_text()
    assert f"    mode: {kind}\n" in module
    assert ("from typing import Any, Literal\n" in module) == ("Literal[" in kind)


def test_a_choice_that_a_call_makes_is_the_scenarios(tmp_path: Path) -> None:
    """A router is told what to do: trained with one member, it never sees the others."""
    (tmp_path / "agent.py").write_text(
        f"{MODES}def ask(mode: Mode, task: str) -> str:\n"
        "    messages = [{'role': 'user', 'content': f'{task} {mode}'}]\n"
        "    reply = OpenAI().chat.completions.create(model='m', messages=messages)\n"
        "    return reply.choices[0].message.content\n"
    )
    (tmp_path / "app.py").write_text(
        "from agent import Mode, ask\n\n\ndef main():\n    ask(Mode.SLOW, input())\n"
    )
    assert art_adapt("--isolated", "agent.py", cwd=tmp_path).returncode == 0
    module = (tmp_path / "agent_train.py").read_text()
    assert '    mode: Literal["fast", "slow"]\n' in module
    assert "mode=Mode(scenario.mode)" in module


@pytest.mark.parametrize(
    ("annotation", "kind"),
    [
        ("Union[Message, str, None]", "str | None"),
        ("Message | str | None", "str | None"),
        ("Optional[Union[str, Message]]", "str | None"),
        ("list[Message] | list[dict] | None", "list[Any] | list[dict] | None"),
    ],
)
def test_of_a_union_the_field_is_what_json_can_hold(
    annotation: str, kind: str, tmp_path: Path
) -> None:
    (tmp_path / "agent.py").write_text(
        "from typing import Optional, Union\n\nfrom openai import OpenAI\n\n\nclass Message:\n"
        "    def __init__(self, role, content):\n        self.role, self.content = role, content\n\n\n"
        f"def ask(message: {annotation} = None, **rest) -> str:\n"
        "    messages = [{'role': 'user', 'content': str(message)}]\n"
        "    reply = OpenAI().chat.completions.create(model='m', messages=messages)\n"
        "    return reply.choices[0].message.content\n"
    )
    assert art_adapt("--isolated", "agent.py", cwd=tmp_path).returncode == 0
    module = (tmp_path / "agent_train.py").read_text()
    assert f"    message: {kind} = None\n" in module
    assert "return ask(message=scenario.message)" in module


def test_what_the_class_and_its_method_may_be_given_is_given_once(
    tmp_path: Path,
) -> None:
    (tmp_path / "agent.py").write_text(
        "from openai import OpenAI\n\n\nclass Agent:\n"
        "    def __init__(self, messages: list | None = None):\n        self.messages = messages or []\n\n"
        "    def run(self, messages: list) -> str:\n        self.messages.extend(messages)\n"
        "        reply = OpenAI().chat.completions.create(model='m', messages=self.messages)\n"
        "        return reply.choices[0].message.content\n"
    )
    assert art_adapt("--isolated", "agent.py", cwd=tmp_path).returncode == 0
    module = (tmp_path / "agent_train.py").read_text()
    assert "agent = Agent()\n    return agent.run(messages=scenario.messages)" in module


SUPPLIED = """\
from openai import AsyncAzureOpenAI, AzureOpenAI, OpenAI


class Agent:
    def __init__(self, {given}):
        {kept}

    def run(self, task: str) -> str:
        messages = [{{"role": "user", "content": task}}]
        reply = {ask}
        return reply.choices[0].message.content
"""
OWN = "self.client.chat.completions.create(model='m', messages=messages)"


@pytest.mark.parametrize(
    ("given", "kept", "ask", "passed"),
    [
        (
            "llm_name: str",
            "self.client, self.llm = OpenAI(), llm_name",
            "self.client.chat.completions.create(model=self.llm, messages=messages)",
            "Agent(llm_name=BASE_MODEL)",
        ),
        (
            "brain: str",
            "self.client = OpenAI()\n        self.brain = brain",
            'self.client.chat.completions.create(**{"model": self.brain, "messages": messages})',
            "Agent(brain=BASE_MODEL)",
        ),
        (
            "openai_key: str",
            "self.client = OpenAI(api_key=openai_key)",
            OWN,
            'Agent(openai_key=endpoint["api_key"])',
        ),
        (
            "secret: str, host: str, version: str",
            "self.client = AzureOpenAI(api_key=secret, azure_endpoint=host, api_version=version)",
            OWN,
            'Agent(secret=endpoint["api_key"], host=endpoint["base_url"], version="2024-10-21")',
        ),
    ],
)
def test_keys_and_models_are_known_by_what_they_are_given_to(
    given: str, kept: str, ask: str, passed: str, tmp_path: Path
) -> None:
    (tmp_path / "agent.py").write_text(SUPPLIED.format(given=given, kept=kept, ask=ask))
    assert art_adapt("--isolated", "agent.py", cwd=tmp_path).returncode == 0
    module = (tmp_path / "agent_train.py").read_text()
    assert passed in re.sub(
        r"\(\n +|\n +(?=\))|,(?=\n +\))", lambda m: m[0].strip("\n ,"), module
    )
    assert 'for rewards."""\n\n    task: str\n\n\n' in module


@pytest.mark.parametrize(
    ("option", "passed"),
    [
        ('"--tone", default="polite"', 'tone="polite"'),
        ('"--tone", "-t", default=2', "tone=2"),
        ('"-t", "tone", default=None', "tone=None"),
        ('"--tone"', "tone=None"),
        ('"--tone/--no-tone"', "tone=False"),
        ('"--tone", is_flag=True', "tone=False"),
        ('"--tone", multiple=True', "tone=()"),
        ('"--tone", default=SETTINGS["tone"]', 'tone=SETTINGS["tone"]'),
        ('"--tone", required=True', "tone=scenario.tone"),
        ('"--tone", prompt=True', "tone=scenario.tone"),
    ],
)
def test_options_of_a_command_have_clicks_defaults(
    option: str, passed: str, tmp_path: Path
) -> None:
    (tmp_path / "agent.py").write_text(
        "import click\nfrom openai import OpenAI\n\nSETTINGS = {'tone': 'polite'}\n\n\n"
        f'@click.command()\n@click.argument("task", required=False)\n@click.option({option})\n'
        "def ask(task, tone):\n"
        "    messages = [{'role': 'user', 'content': f'{task} {tone}'}]\n"
        "    reply = OpenAI().chat.completions.create(model='m', messages=messages)\n"
        "    click.echo(reply.choices[0].message.content)\n"
    )
    assert art_adapt("--isolated", "agent.py", cwd=tmp_path).returncode == 0
    module = (tmp_path / "agent_train.py").read_text()
    assert f"ask.callback(task=scenario.task, {passed})" in module, module


COMMAND = """\
import argparse, sys

from openai import OpenAI

client = OpenAI()
parser = argparse.ArgumentParser()
parser.add_argument("question")


def main(argv=None):
    {read}
    messages = [{{"role": "user", "content": str(given)}}]
    reply = client.chat.completions.create(model="m", messages=messages)
    print(reply.choices[0].message.content)


if __name__ == "__main__":
    main()
"""


@pytest.mark.parametrize(
    "read",
    [
        "given = parser.parse_args(argv).question",
        "given, _ = parser.parse_known_args(args=argv)",
        "argv = argv or sys.argv[1:]\n    given = argv[0]",
        "argv = sys.argv[1:] if argv is None else argv\n    given = argv[0]",
    ],
)
def test_without_arguments_a_command_would_read_the_training_runs(
    read: str, tmp_path: Path
) -> None:
    (tmp_path / "agent.py").write_text(COMMAND.format(read=read))
    done = art_adapt("--isolated", "--entry", "main", "agent.py", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    module = (tmp_path / "agent_train.py").read_text()
    assert "    argv: list[str]\n" in module
    assert "main(argv=scenario.argv)" in module


def test_a_parameter_that_replaces_no_command_line_stays_optional(
    tmp_path: Path,
) -> None:
    text = COMMAND.format(read="given = argv or 'nothing'")
    (tmp_path / "agent.py").write_text(text)
    done = art_adapt("--isolated", "--entry", "main", "agent.py", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "argv: Any = None" in (tmp_path / "agent_train.py").read_text()
