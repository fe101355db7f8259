"""Where one episode may ask several models, all are named, and one can be kept out by its name."""

from pathlib import Path

import pytest
from agent_files import art_adapt

SINGLE = """\
import os
from dataclasses import dataclass

from openai import OpenAI

client = OpenAI()
MODEL = os.environ.get("OPENAI_MODEL", "small")
VISION_MODEL = os.getenv("OPENAI_VISION_MODEL", "large")
MODELS = {{"model": "large", "temperature": 0.2}}


@dataclass
class Settings:
    model: str = "small"
    vision: str = "large"


settings = Settings()


def describe(text: str) -> str:
    asked = [{{"role": "user", "content": f"Sum up: {{text}}"}}]
    reply = client.chat.completions.create({describes}, messages=asked)
    return reply.choices[0].message.content


def answer(question: str) -> str:
    messages = [{{"role": "system", "content": describe(question)}}]
    messages.append({{"role": "user", "content": question}})
    reply = client.chat.completions.create({answers}, messages=messages)
    return reply.choices[0].message.content
"""
PLAYERS = """\
from openai import OpenAI

{before}

class Player:
    {constructor}

    def say(self, role: str, text: str) -> str:
        asked = [{{"role": "system", "content": role}}, {{"role": "user", "content": text}}]
        reply = OpenAI().chat.completions.create(model=self.model, messages=asked)
        return reply.choices[0].message.content


class Game:
    def __init__(self, player: Player, overseer: Player) -> None:
        self.player, self.overseer = player, overseer

    def run(self, topic: str) -> str:
        said = ""
        for _ in range(3):
            said += self.player.say("You are a player.", topic + said)
            if "veto" in self.overseer.say("You oversee.", said):
                return said
        return said


{made}
"""
GIVEN = "def __init__(self, model: str) -> None:\n        self.model = model"
BY_DEFAULT = (
    "def __init__(self, model: str = 'small') -> None:\n        self._model = model\n\n"
    "    @property\n    def model(self) -> str:\n        return self._model"
)
HELPER = """\
import openai

client = openai.OpenAI()
SMALL, LARGE = "small", "large"


{helper}


def plan(topic: str) -> str:
    draft = ""
    for _ in range(3):
        draft = {asks}("Write a plan.", topic + draft)
        if "fine" in critic(draft):
            break
    return draft


def critic(draft: str) -> str:
    return {judges}


def main(topic):
    print(plan(topic))
"""
COMPLETE = (
    "def complete(system: str, text: str, {model}) -> str:\n"
    "    said = [{{'role': 'system', 'content': system}}, {{'role': 'user', 'content': text}}]\n"
    "    response = client.chat.completions.create(model=model, messages=said)\n"
    "    return response.choices[0].message.content"
)
SEVERAL = {
    "a helper that is told": HELPER.format(
        helper=COMPLETE.format(model="model: str = 'small'"),
        asks="complete",
        judges="complete('Judge.', draft, model='large')",
    ),
    "a helper that is told by position": HELPER.format(
        helper=COMPLETE.format(model="model: str = SMALL"),
        asks="complete",
        judges="complete('Judge.', draft, LARGE)",
    ),
    "a helper that is told by a name": HELPER.format(
        helper=COMPLETE.format(model="*, model: str = SMALL"),
        asks="complete",
        judges="complete(system='Judge.', text=draft, model=LARGE)",
    ),
    "a helper behind another": HELPER.format(
        helper=COMPLETE.format(model="model: str")
        + "\n\n\ndef ask(system: str, text: str, model: str = 'small') -> str:\n"
        "    return complete(system, text, model)",
        asks="ask",
        judges="ask('Judge.', draft, 'large')",
    ),
    "a helper of a class": HELPER.format(
        helper="class Desk:\n"
        + "\n".join(
            f"    {line}"
            for line in COMPLETE.format(model="model: str = 'small'")
            .replace("complete(system", "complete(self, system")
            .splitlines()
        )
        + "\n\n\nDESK = Desk()",
        asks="DESK.complete",
        judges="DESK.complete('Judge.', draft, model='large')",
    ),
    "named constants": SINGLE.format(
        describes="model=VISION_MODEL", answers="model=MODEL"
    ),
    "texts": SINGLE.format(describes="model='large'", answers="model='small'"),
    "a dict of arguments": SINGLE.format(describes="**MODELS", answers="model='small'"),
    "settings": SINGLE.format(
        describes="model=settings.vision", answers="model=settings.model"
    ),
    "two objects": PLAYERS.format(
        before="",
        constructor=GIVEN,
        made="def main(topic):\n    print(Game(Player('small'), Player('large')).run(topic))",
    ),
    "two objects of the module": PLAYERS.format(
        before="",
        constructor=GIVEN,
        made="game = Game(player=Player(model='small'), overseer=Player(model='large'))",
    ),
    "two objects, of which names are given": PLAYERS.format(
        before="SMALL = 'small'\nLARGE = 'large'\n",
        constructor=GIVEN,
        made="def make():\n    player = Player(SMALL)\n    overseer = Player(LARGE)\n"
        "    return Game(player, overseer)",
    ),
    "a helper that makes them": PLAYERS.format(
        before="",
        constructor=GIVEN,
        made="def made(model):\n    return Player(model)\n\n\n"
        "def make():\n    return Game(made('small'), made('large'))",
    ),
    "a property": PLAYERS.format(
        before="",
        constructor=BY_DEFAULT,
        made="game = Game(Player('small'), Player('large'))",
    ),
}
ONE = {
    "a helper that all tell the same": HELPER.format(
        helper=COMPLETE.format(model="model: str = 'small'"),
        asks="complete",
        judges="complete('Judge.', draft, model=SMALL)",
    ),
    "a helper that something else tells": HELPER.format(
        helper=COMPLETE.format(model="model: str = 'small'"),
        asks="complete",
        judges="'fine'",
    ).replace(
        "def main",
        "def embed(text):\n    return complete('Sum up.', text, LARGE)\n\n\ndef main",
    ),
    "one constant": SINGLE.format(describes="model=MODEL", answers="model=MODEL"),
    "one text": SINGLE.format(describes="model='small'", answers="model=MODEL"),
    "objects of one model": PLAYERS.format(
        before="",
        constructor=GIVEN,
        made="game = Game(Player('small'), Player('small'))",
    ),
    "a model of a table": PLAYERS.format(
        before="MODELS = {'a': 'small', 'b': 'large'}\n",
        constructor=GIVEN,
        made="def make(name):\n    player = Player(MODELS[name])\n    return Game(player, player)",
    ),
    "one of two models": PLAYERS.format(
        before="",
        constructor=GIVEN,
        made="def make(fast):\n    player = Player('small' if fast else 'large')\n"
        "    return Game(player, player)",
    ),
    "a default of several": PLAYERS.format(
        before="",
        constructor="def __init__(self, model: str = '', fast: bool = True) -> None:\n"
        "        self.model = model or ('small' if fast else 'large')",
        made="def make():\n    player = Player()\n    return Game(player, player)",
    ),
    "objects of two examples": PLAYERS.format(
        before="",
        constructor=GIVEN,
        made="def one():\n    return Game(Player('small'), Player('small'))\n\n\n"
        "def other():\n    return Game(Player('large'), Player('large'))",
    ),
}


def report_on(agent: str, folder: Path, *options: str) -> str:
    (folder / "agent.py").write_text(agent)
    adapted = art_adapt("--diff", "agent.py", *options, cwd=folder)
    return adapted.stdout.decode() + adapted.stderr.decode()


@pytest.mark.parametrize("kind", SEVERAL)
def test_the_models_of_an_episode_are_named(kind: str, tmp_path: Path) -> None:
    said = report_on(SEVERAL[kind], tmp_path)
    (line,) = [each for each in said.splitlines() if each.startswith("  models  ")]
    assert "small (agent.py:" in line and "large (agent.py:" in line, line
    assert "--auxiliary MODEL" in line
    told = report_on(SEVERAL[kind], tmp_path, "--auxiliary", "large")
    assert "  models  " not in told
    out = "describe" if "describe" in SEVERAL[kind] else "large"
    assert f'+AUXILIARY: tuple[str, ...] = ("{out}",)' in told


@pytest.mark.parametrize("kind", ONE)
def test_one_model_is_no_question(kind: str, tmp_path: Path) -> None:
    assert "  models  " not in report_on(ONE[kind], tmp_path)


def test_what_is_said_to_be_trained_is_not_named_again(tmp_path: Path) -> None:
    both = ("--policy", "describe", "--policy", "answer")
    assert "  models  " not in report_on(SEVERAL["texts"], tmp_path, *both)


def test_a_model_that_nothing_asks_is_refused(tmp_path: Path) -> None:
    said = report_on(SEVERAL["texts"], tmp_path, "--auxiliary", "larger")
    assert "no completion call is named 'larger'" in said
