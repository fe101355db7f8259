"""Where a project makes an object in several ways, the report names those that it did not take."""

from pathlib import Path

import pytest
from agent_files import art_adapt

AGENT = """\
import requests
from openai import OpenAI


class Ollama:
    def generate(self, prompt: str) -> str:
        return requests.post("http://localhost:11434", json={"prompt": prompt}).json()["response"]


class Chat:
    def __init__(self, key: str = "") -> None:
        self.client = OpenAI(api_key=key)

    def generate(self, prompt: str) -> str:
        messages = [{"role": "user", "content": prompt}]
        response = self.client.chat.completions.create(model="m", messages=messages)
        return response.choices[0].message.content


class Config:
    def __init__(self, provider: str, turns: int = 3) -> None:
        self.provider, self.turns = provider, turns


class Agent:
    def __init__(self, config: Config) -> None:
        self.config = config
        self.llm = Chat() if config.provider == "openai" else Ollama()

    def prove(self, theorem: str) -> str:
        for _ in range(self.config.turns):
            step = self.llm.generate(theorem)
            if "qed" in step:
                return step
        return "failed"
"""
FIRST = "from agent import Agent, Config\n\nagent = Agent(Config(provider='ollama'))\n"
# What another file of the project does, and whether that is another way.
OTHERS = {
    "a keyword": ("agent = Agent(Config(provider='openai'))", True),
    "a position": ("agent = Agent(Config('openai'))", True),
    "a variable": (
        "def main():\n    config = Config(provider='openai', turns=5)\n    Agent(config).prove('1')\n",
        True,
    ),
    "an option": (
        "def main():\n    Agent(config=Config('openai')).prove('1')\n",
        True,
    ),
    "a function": (
        "def make():\n    return Agent(Config(provider='openai'))\n",
        True,
    ),
    "the same": ("agent = Agent(Config(provider='ollama'))", False),
    "the same, named": ("agent = Agent(config=Config(provider='ollama'))", False),
    "another agent": ("class Agent:\n    pass\n\n\nagent = Agent()", False),
}


@pytest.mark.parametrize("kind", OTHERS)
def test_another_way_is_named(kind: str, tmp_path: Path) -> None:
    other, is_other = OTHERS[kind]
    (tmp_path / "agent.py").write_text(AGENT)
    (tmp_path / "a_install.py").write_text(FIRST)
    (tmp_path / "b_example.py").write_text(
        f"from agent import Agent, Config\n\n{other}\n"
    )
    done = art_adapt("--diff", "agent.py", cwd=tmp_path)
    said = done.stderr.decode()
    (line,) = [each for each in said.splitlines() if "made as in" in each]
    assert "a_install.py:3" in line
    assert ("b_example.py" in line and "makes it in another way" in line) == is_other


COMMAND = """\
import argparse

from agent import Agent, Config


def filled(config, path):
    config.turns = len(path)
    return config


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--file")
    parser.add_argument("--style", action="store_true")
    args = parser.parse_args()
    config = Config("openai")
{then}
    Agent(config).prove("1")
"""
# What happens to what was made, and whether an option has to ask for it.
THEN = {
    "another object": (
        "    if args.file:\n        config = filled(config, args.file)",
        True,
    ),
    "one of two": (
        "    if args.file:\n        config, size = filled(config, args.file), 1",
        True,
    ),
    "a method": ("    if args.style:\n        config.tune()", True),
    "an attribute": ("    if args.style:\n        config.turns = 5", True),
    "a call that fills it": ("    if args.file:\n        config.load(args.file)", True),
    "in any case": ("    config.tune()", False),
    "something else": ("    if args.style:\n        print('style')", False),
}


@pytest.mark.parametrize("kind", THEN)
def test_what_an_option_does_is_said_to_be_left_out(kind: str, tmp_path: Path) -> None:
    then, is_said = THEN[kind]
    (tmp_path / "agent.py").write_text(AGENT)
    (tmp_path / "cli.py").write_text(COMMAND.format(then=then))
    done = art_adapt("--diff", "agent.py", cwd=tmp_path)
    said = done.stderr.decode()
    assert "made as in cli.py:16" in said, said
    assert ("runs only if an option is given" in said) == is_said, said


# Functions of the agent's file that hand on what they are given.
HANDING_ON = {
    "keywords": "def make(**kwargs):\n    return Agent(**kwargs)\n",
    "both": "def make(*args, **kwargs):\n    return Agent(*args, **kwargs)\n",
    "a class method": "class Agents:\n    @classmethod\n    def make(cls, **given):\n"
    "        return Agent(**given)\n",
    "beside one of its own": "def make(config, **more):\n    return Agent(config=config, **more)\n",
}


@pytest.mark.parametrize("kind", HANDING_ON)
def test_what_hands_on_its_arguments_makes_no_agent(kind: str, tmp_path: Path) -> None:
    (tmp_path / "agent.py").write_text(f"{AGENT}\n\n{HANDING_ON[kind]}")
    main = "from agent import Agent, Config\n\n\ndef main(text):\n    Agent(Config('openai', 5)).prove(text)\n"
    (tmp_path / "main.py").write_text(main)
    done = art_adapt("--diff", "agent.py", cwd=tmp_path)
    patch = done.stdout.decode().partition("+def episode(")[2]
    assert "5" in patch.partition("+@training")[0], patch
