"""An address, a key or a model's name that an agent only hands on is no scenario's."""

from __future__ import annotations

from pathlib import Path

import pytest
from agent_files import art_adapt

PLAYER = """\
from openai import OpenAI


class Player:
    def __init__(self, where, llm="gpt-4o", secret="EMPTY"):
        self.client = OpenAI(base_url=where, api_key=secret)
        self.model = llm

    def ask(self, text):
        asked = [{"role": "user", "content": text}]
        return self.client.chat.completions.create(model=self.model, messages=asked)


def made(place):
    return Player(place)
"""
CLASS = """\
from player import Player, made


class Driver:
    def __init__(self, {parameter}: str):
        {body}

    def run(self, question: str) -> str:
        return self.player.ask(question).choices[0].message.content
"""
HANDED = {
    "by position": ("url", "self.player = Player(url)", 'url=endpoint["base_url"]'),
    "by name": ("url", "self.player = Player(where=url)", 'url=endpoint["base_url"]'),
    "a key": ("k", 'self.player = Player("u", secret=k)', 'k=endpoint["api_key"]'),
    "a model": ("which", 'self.player = Player("u", which)', "which=BASE_MODEL"),
    "through a function": ("url", "self.player = made(url)", 'url=endpoint["base_url"]'),
    "twice": ("url", "self.player, self.other = Player(url), made(url)", 'url=endpoint["base_url"]'),
}  # fmt: skip
# It may say what the task is.
OTHERWISE = {
    "told as well": ("url", "self.player = Player(url)\n        self.task = f'Read {url}.'"),
    "for another purpose": ("name", 'self.player = Player("u")\n        self.name = name'),
    "two roles": ("word", "self.player = Player(word, word)"),
}  # fmt: skip


def adapted(folder: Path, parameter: str, body: str) -> str:
    (folder / "player.py").write_text(PLAYER)
    (folder / "agent.py").write_text(CLASS.format(parameter=parameter, body=body))
    patch = art_adapt("--diff", "--entry", "Driver.run", "agent.py", cwd=folder).stdout
    return patch.decode()


@pytest.mark.parametrize("kind", HANDED)
def test_what_says_where_the_model_is_is_the_train_module_s(
    kind: str, tmp_path: Path
) -> None:
    parameter, body, given = HANDED[kind]
    patch = adapted(tmp_path, parameter, body)
    assert given in patch
    assert f"scenario.{parameter}" not in patch


@pytest.mark.parametrize("kind", OTHERWISE)
def test_what_serves_for_more_stays_the_scenario_s(kind: str, tmp_path: Path) -> None:
    parameter, body = OTHERWISE[kind]
    assert f"scenario.{parameter}" in adapted(tmp_path, parameter, body)
