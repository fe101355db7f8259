"""What a process has in common for all episodes, and what is only made once in it."""

from __future__ import annotations

from pathlib import Path

import pytest
from looking_agent import effects_of, looking_agent

from art_adapt.source import Source, read_source
from art_adapt.survey.side_effects.harm import Harm
from art_adapt.survey.survey import survey

GAME = """
class Game:
    def __init__(self):
        self.turn, self.moves, self.board = 0, [], None

    def move(self, at):
        {body}

    def note(self, at):
        self.moves.append(at)

    def show(self):
        return self.moves

"""


def shared(look: str, before: str = "", after: str = "") -> list[str]:
    found = effects_of(looking_agent(look, before, after))
    return [effect.what for effect in found if effect.harm is Harm.SHARED]


@pytest.mark.parametrize(
    ("body", "look"),
    [
        ("self.turn = self.turn + 1", "game.move(text)"),
        ("self.turn += 1", "game.move(text)"),
        ("self.board = at", "game.move(text)"),
        ("return self.note(at)", "game.move(text)"),
        ("return at", "game.note(text)"),
        ("return at", "note = game.note\nnote(text)"),
        ("self.board = at", "Desk().use(text)"),
    ],
)
def test_a_method_changes_an_object_of_the_module(body: str, look: str) -> None:
    desk = "class Desk:\n    game = Game()\n\n    def use(self, at):\n        self.game.move(at)\n"
    made = desk if "Desk" in look else "game = Game()\n"
    before = GAME.format(body=body) + made
    assert len(shared(look, before)) == 1


@pytest.mark.parametrize(
    ("body", "look"),
    [
        ("return at", "game.move(text)"),
        ("return at", "game.show()"),
        ("if self.board is None:\n            self.board = at", "game.move(text)"),
        ("self.turn += 1", "Game().move(text)"),
    ],
)
def test_a_method_that_changes_nothing_for_good_is_none(body: str, look: str) -> None:
    assert shared(look, GAME.format(body=body) + "game = Game()\n") == []


def test_what_a_module_does_itself_no_episode_does() -> None:
    before = GAME.format(body="self.turn += 1") + "game = Game()\ngame.move('a1')\n"
    assert shared("Game().move(text)", before) == []


def test_methods_in_a_table_count(tmp_path: Path) -> None:
    before = (
        GAME.format(body="self.turn += 1")
        + "game = Game()\nTOOLS = {'move': game.move}\n"
    )
    assert shared("TOOLS['move'](text)", before) == [
        "the module-level game, which Game.move changes"
    ]


@pytest.mark.parametrize(
    ("before", "look"),
    [
        ("STOCK = {name: [] for name in 'ab'}", "STOCK['a'].append(text)"),
        ("SLOTS = [0] * 10", "SLOTS[0] = text"),
        ("import json\nORDERS = json.loads('{}')", "ORDERS['1']['state'] = text"),
        ("LOG = []", "mine = LOG\nmine.append(text)"),
        ("LOG = []\n\ndef add(items, item):\n    items.append(item)", "add(LOG, text)"),
        ("LOG = []\n\ndef add(item, to):\n    to.insert(0, item)", "add(text, to=LOG)"),
        ("LOG = [3, 1]", "LOG.sort()"),
        ("def keep(item, seen=[]):\n    seen.append(item)", "keep(text)"),
        ("def keep(item, *, seen={}):\n    seen[item] = 1", "keep(text)"),
        ("class Bank:\n    held = 0\n\n    @classmethod\n    def pay(cls, n):\n        cls.held += n", "Bank.pay(1)"),
        ("class Bank:\n    held = 0\n\n    def pay(self, n):\n        type(self).held += n", "Bank().pay(1)"),
        ("class Bank:\n    held = 0\n\n    def pay(self, n):\n        self.__class__.held += n", "Bank().pay(1)"),
        ("def count():\n    count.calls += 1\n\ncount.calls = 0", "count()"),
        ("from contextvars import ContextVar\nSEEN = ContextVar('seen', default={})", "SEEN.get()[text] = 1"),
        ("from contextvars import ContextVar\nSEEN = ContextVar('seen', default=[])", "SEEN.get().append(text)"),
        ("import os", "os.environ.update(KEY=text)"),
        ("import os", "del os.environ['KEY']"),
        ("import sys", "sys.path.insert(0, text)"),
    ],
)  # fmt: skip
def test_state_of_the_process_is_named(before: str, look: str) -> None:
    assert len(shared(look, before)) == 1


@pytest.mark.parametrize(
    ("before", "look"),
    [
        ("import os", "if 'KEY' not in os.environ:\n    os.environ['KEY'] = text"),
        ("import os", "if not os.environ.get('KEY'):\n    os.environ['KEY'] = text"),
        ("KEPT = {'client': None}", "made = KEPT['client']\nif made is None:\n    made = KEPT['client'] = text"),
        ("KEPT = {}", "if text in KEPT:\n    return KEPT[text]\nKEPT[text] = 1"),
        ("class Tool:\n    client = None\n\n    @classmethod\n    def of(cls):\n        if cls.client is None:\n            cls.client = 1", "Tool.of()"),
        ("tried = False\nfound = None", "global tried, found\nif not tried:\n    tried = True\n    found = 1"),
        ("lock = client_ = None", "global client_\nif client_ is None:\n    with lock:\n        if client_ is None:\n            client_ = 1"),
        ("SAID = []", "if text not in SAID:\n    SAID.append(text)"),
        ("def fresh(item, seen=[]):\n    seen = list(seen)\n    seen.append(item)", "fresh(text)"),
        ("LOG = []", "mine = list(LOG)\nmine.append(text)"),
    ],
)  # fmt: skip
def test_what_is_made_once_is_not(before: str, look: str) -> None:
    assert shared(look, before) == []


@pytest.mark.parametrize(
    ("state", "look", "names"),
    [
        ("LOG = []\n", "LOG.append(text)", "LOG"),
        ("LOG = []\n", "LOG[0] = text", "LOG"),
        ("class Store:\n    def add(self, x): ...\n\nstore = Store()\n", "store.add(text)", "store"),
        ("class Store:\n    def set(self, x):\n        self.x = x\n\nstore = Store()\n", "store.set(text)", "store"),
    ],
)  # fmt: skip
def test_state_of_another_file_is_named(
    state: str, look: str, names: str, tmp_path: Path
) -> None:
    (tmp_path / "state.py").write_text(state)
    agent = tmp_path / "agent.py"
    agent.write_text(looking_agent(look, f"from state import {names}"))
    found = survey([read_source(agent)])
    whats = [e.what for f in found.files for e in f.effects if e.harm is Harm.SHARED]
    assert whats and all(names in what for what in whats)


def test_a_function_of_an_imported_module_is_no_state(tmp_path: Path) -> None:
    (tmp_path / "memory.py").write_text("def add(text):\n    return text\n")
    agent = tmp_path / "agent.py"
    agent.write_text(looking_agent("memory.add(text)", "import memory"))
    found = survey([read_source(agent)])
    assert [e for f in found.files for e in f.effects] == []


@pytest.mark.parametrize(
    ("before", "look", "harm"),
    [
        ("import os", "os.rmdir(text)", Harm.WRITES),
        ("from pathlib import Path", "Path(text).mkdir()", Harm.WRITES),
        ("import zipfile", "zipfile.ZipFile(text, 'w')", Harm.WRITES),
        ("", "open(text, 'a' if text else 'w')", Harm.WRITES),
        ("def put(text, mode='a'):\n    open(text, mode)", "put(text)", Harm.WRITES),
        ("import numpy as np", "np.save(text, [])", Harm.WRITES),
        ("import http.client", "http.client.HTTPSConnection(text)", Harm.NETWORK),
        ("import urllib.request", "urllib.request.urlretrieve(text, 'f')", Harm.NETWORK),
        ("import os", "os.kill(1, 9)", Harm.PROCESS),
        ("import pty", "pty.spawn(text)", Harm.PROCESS),
        ("import sys", "for line in sys.stdin:\n    pass", Harm.ASKS),
        ("import click", "click.getchar()", Harm.ASKS),
        ("from prompt_toolkit import PromptSession\n\ndef ask(session):\n    return session.prompt()", "ask(text)", Harm.ASKS),
        ("import importlib", "importlib.import_module(text)", Harm.UNKNOWN),
        ("from mcp import ClientSession\nopen_ = {}", "open_[text].call_tool(text)", Harm.NETWORK),
        ("from agents.mcp import MCPServerStdio", "MCPServerStdio(text)", Harm.PROCESS),
        ("from airtable import Airtable\ntable = Airtable('key')", "table.insert(text)", Harm.UNKNOWN),
        ("from shop.models import Order", "Order.objects.create(text=text)", Harm.COMMITS),
        ("from django.db import models", "text.save()", Harm.COMMITS),
    ],
)  # fmt: skip
def test_it_is_named_once(before: str, look: str, harm: Harm) -> None:
    assert [e.harm for e in effects_of(looking_agent(look, before))] == [harm]


@pytest.mark.parametrize(
    ("before", "look"),
    [
        ("import os", "if not os.path.exists('logs'):\n    os.makedirs('logs')"),
        ("from pathlib import Path", "Path('logs').mkdir(exist_ok=True)"),
        ("from qdrant_client.models import Filter", "Filter(must=text)"),
        ("import urllib.request", "urllib.request.Request(text)"),
        ("from sqlalchemy import select", "select(text)"),
        ("import importlib", "importlib.import_module('json')"),
        # A class that is only named: as a type, or for what it holds.
        ("class Store:\n    limit = 3\n\n    def put(self):\n        open('f', 'w')", "def other(store: Store) -> Store: ...\nkept: Store = Store.limit"),
    ],
)  # fmt: skip
def test_it_is_none(before: str, look: str) -> None:
    assert effects_of(looking_agent(look, before)) == []


def test_a_database_that_is_only_read_is_not_shared() -> None:
    before = """
    import sqlite3

    def rows(sql):
        db = sqlite3.connect("shop.db")
        found = db.execute(sql).fetchall()
        return found

    def seed():
        db = sqlite3.connect("shop.db")
        db.execute("CREATE TABLE shop (id)")
        db.commit()
    """
    assert effects_of(looking_agent("rows(text)", before)) == []


SCRIPT = """\
from openai import OpenAI

client = OpenAI()
messages = []


def turn(text):
    messages.append({"role": "user", "content": text})
    reply = client.chat.completions.create(model="m", messages=messages)
    print(reply.choices[0].message.content)


while True:
    turn(input())
"""


def test_a_file_that_is_run_as_a_whole_shares_none_of_its_own_state() -> None:
    found = survey([Source(Path("/nowhere/chat.py"), SCRIPT.encode())])
    assert found.entry_points[0].is_script
    assert found.effects(Harm.SHARED) == []
