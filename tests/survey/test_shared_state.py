"""What one rollout leaves behind for the others: state of modules, classes and files."""

from __future__ import annotations

from pathlib import Path

import pytest
from looking_agent import effects_of, looking_agent

from art_adapt.source import Source, read_source
from art_adapt.survey.side_effects.harm import Harm
from art_adapt.survey.survey import survey


def agent(before: str, look: str) -> str:
    return looking_agent(look, before, given="key")


def shared(text: str) -> list[str]:
    return [e.what for e in effects_of(text) if e.harm is Harm.SHARED]


ORDERS = 'ORDERS = {"a": {"state": 1, "notes": []}}'
ROWS = 'ROWS = [{"state": 1}]'
STORE = """
class Store:
    def __init__(self):
        self.rows, self.count = [], 0

    def add(self, row):
        CHANGE

    def find(self, row):
        return row in self.rows

    def of(self, key):
        for row in self.rows:
            if row["key"] == key:
                return row
        return None

    def first(self):
        return self.rows[0]

    def found(self, key):
        return self.of(key) or self.first()

store = Store()
"""
FIND = "\n\ndef find(key):\n    for name, order in ORDERS.items():\n        if name == key:\n            return order\n"
CONNECTION = 'import sqlite3\ndb = sqlite3.connect("shop.db")'
OF_CONNECTION = "the module's database connection db"
OF_ORDERS = "the module-level ORDERS, which look changes"
OF_ROWS = "the module-level ROWS, which look changes"
OF_STORE = "the module-level store, which look changes"
SHARED = [
    (ORDERS, 'ORDERS[key]["state"] = 2', OF_ORDERS),
    (ORDERS, 'ORDERS[key]["notes"].append(key)', OF_ORDERS),
    (ORDERS, 'order = ORDERS[key]\norder["state"] = 2', OF_ORDERS),
    (ORDERS, 'order = ORDERS.get(key)\nif order:\n    order["state"] = 2', OF_ORDERS),
    (ORDERS, 'if order := ORDERS.get(key):\n    order["notes"].append(1)', OF_ORDERS),
    (ORDERS, "for order in ORDERS.values():\n    order.update(state=2)", OF_ORDERS),
    (ROWS, 'for row in ROWS:\n    row["state"] = 2', OF_ROWS),
    (ROWS, 'for at, row in enumerate(ROWS):\n    row["state"] = at', OF_ROWS),
    (ROWS, 'row = next(r for r in ROWS if key)\nrow["state"] = 2', OF_ROWS),
    (STORE.replace("CHANGE", "self.rows.append(row)"), "store.add(key)", OF_STORE),
    (STORE.replace("CHANGE", "self.rows[0] = row"), "store.add(key)", OF_STORE),
    (STORE.replace("CHANGE", "self.count += 1"), "store.add(key)", OF_STORE),
    (STORE, "store.count += 1", OF_STORE),
    *(
        (STORE.replace("CHANGE", change), "store.add(key)", OF_STORE)
        for change in (
            'found = self.of(row)\n        found["state"] = 2',
            "found = self.of(row)\n        found.state = 2",
            'found = self.first()\n        del found["state"]',
            'found = self.rows[0]\n        found["state"] = 2',
            'for each in self.rows:\n            each["state"] = 2',
            'found = next(r for r in self.rows if r)\n        found["state"] = 2',
        )
    ),
    (ORDERS + FIND, 'order = find(key)\norder["state"] = 2', OF_ORDERS),
    (CONNECTION, "db.execute(key)", OF_CONNECTION),
    (
        f"{CONNECTION}\ncursor = db.cursor()",
        "cursor.execute(key)",
        "the module's database connection cursor",
    ),
    (
        "from sqlite3 import connect\nif True:\n    db = connect(':memory:')",
        "with db:\n    db.execute(key)",
        OF_CONNECTION,
    ),
    ("import os", 'os.environ["KEY"] = key', "an environment variable"),
    ("COUNT = 0", "global COUNT\nCOUNT += 1", "global COUNT"),
    ("SEEN = []", "SEEN.append(key)", "the module-level SEEN, which look changes"),
    (
        "NOTES = {}",
        "NOTES[key] = 1",
        "the module-level NOTES, which look changes",
    ),
    (
        "LOGS = {}",
        "if key not in LOGS:\n    LOGS[key] = []\nLOGS[key].append(key)",
        "the module-level LOGS, which look changes",
    ),
    (
        "from collections import defaultdict\nLOGS = defaultdict(list)",
        "LOGS[key].append(key)",
        "the module-level LOGS, which look changes",
    ),
    (
        "COUNTS = {}",
        "count = COUNTS.get(key, 0)\nCOUNTS[key] = count + 1",
        "the module-level COUNTS, which look changes",
    ),
    ("", "globals()[key] = key", "globals()"),
    ("import os", "os.chdir(key)", "the working directory"),
    (
        "class Config:\n    model = 'm'",
        "Config.model = key",
        "Config.model",
    ),
    (
        "import sqlite3",
        "sqlite3.connect('memory.db').execute('INSERT INTO facts VALUES (?)', (key,))",
        "the database 'memory.db'",
    ),
    (
        "import sqlite3\nclass Memory:\n    def __init__(self, path='memory.db'):\n        self.path = path\n"
        "    def keep(self, text):\n        db = sqlite3.connect(self.path)\n        db.execute('insert into facts values (?)', (text,))\n",
        "Memory().keep(key)",
        "the database 'memory.db'",
    ),
    (
        "import sqlite3\nPATH = 'memory.db'\ndef opened():\n    return sqlite3.connect(PATH)",
        "with opened() as db:\n    db.execute('delete from facts')",
        "the database 'memory.db'",
    ),
    (
        "from pathlib import Path",
        "path = Path('state.json')\nold = path.read_text()\nPath('state.json').write_text(old + key)",
        "the file 'state.json', which is read as well",
    ),
    (
        "import json\nMEMORY = 'memory.json'\ndef load():\n    with open(MEMORY) as file:\n        return json.load(file)",
        "load()\nwith open(MEMORY, mode='w') as file:\n    json.dump(key, file)",
        "the file 'memory.json', which is read as well",
    ),
    (
        "class Memory:\n    kept = []\n    def keep(self, text):\n        self.kept.append(text)",
        "Memory().keep(key)",
        "Memory.kept, which all its instances share, which Memory.keep changes",
    ),
    *(
        (
            f"SHARED = []\nclass Memory:\n    usual = []\n    def __init__(self, kept=None):\n"
            f"        self.kept = {kept}\n    def keep(self, text):\n        self.kept.append(text)",
            "Memory().keep(key)",
            f"{what}, which Memory.keep changes",
        )
        for kept, what in (
            ("kept or self.usual", "Memory.usual, which all its instances share"),
            (
                "self.usual if kept is None else kept",
                "Memory.usual, which all its instances share",
            ),
            ("Memory.usual", "Memory.usual, which all its instances share"),
            ("kept or SHARED", "the module-level SHARED"),
        )
    ),
]
OWN = {
    "copied from the class": (
        "class Memory:\n    usual = []\n    def __init__(self, kept=None):\n"
        "        self.kept = kept or list(self.usual)\n    def keep(self, text):\n        self.kept.append(text)",
        "Memory().keep(key)",
    ),
    "made once": (
        "KEPT = None",
        "global KEPT\nif KEPT is None:\n    KEPT = key.upper()",
    ),
    "left if made": (
        "KEPT = None",
        "global KEPT\nif KEPT is not None:\n    return KEPT\nKEPT = key.upper()",
    ),
    "left if done": (
        "DONE = False",
        "global DONE\nif DONE:\n    return key\nprint(key)\nDONE = True",
    ),
    "only read": ("KEPT = 'x'", "global KEPT\nprint(KEPT)"),
    "a cache": ("KEPT = {}", "if key not in KEPT:\n    KEPT[key] = key.upper()"),
    "a cache that is asked": (
        "KEPT = {}",
        "found = KEPT.get(key)\nif found is None:\n    KEPT[key] = key.upper()",
    ),
    "said once": (
        "SAID = set()",
        "if key not in SAID:\n    SAID.add(key)\n    print(key)",
    ),
    "a database in memory": (
        "import sqlite3",
        "sqlite3.connect(':memory:').execute('insert into facts values (1)')",
    ),
    "a database that is read": (
        "import sqlite3",
        "sqlite3.connect('facts.db').execute('select * from facts')",
    ),
    "a list of each instance": (
        "class Memory:\n    kept = []\n    def __init__(self):\n        self.kept = []\n    def keep(self, text):\n        self.kept.append(text)",
        "Memory().keep(key)",
    ),
    "a field of a model": (
        "from pydantic import BaseModel\nclass Memory(BaseModel):\n    kept: list = []\n    def keep(self, text):\n        self.kept.append(text)",
        "Memory().keep(key)",
    ),
    "a log that is only added to": ("", "open('run.log', 'a').write(key)"),
    "a file of its own": ("", "open(key).read()\nopen(key, 'w').write(key)"),
    "a local of the same name": ("SEEN = []", "SEEN = []\nSEEN.append(key)"),
}


@pytest.mark.parametrize(
    ("before", "look", "what"), SHARED, ids=[s[1][:30] for s in SHARED]
)
def test_state_that_outlives_an_episode_is_named(
    before: str, look: str, what: str
) -> None:
    assert shared(agent(before, look)) == [what]


@pytest.mark.parametrize(("before", "look"), OWN.values(), ids=OWN)
def test_what_is_made_once_or_an_episodes_own_is_not(before: str, look: str) -> None:
    assert shared(agent(before, look)) == []


def test_a_setting_of_another_file_is_named(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").touch()
    (tmp_path / "settings.py").write_text("MODEL = 'm'\n")
    file = tmp_path / "agent.py"
    file.write_text(agent("import settings", "settings.MODEL = key"))
    found = survey([read_source(file)])
    effects = [e.what for f in found.files for e in f.effects if e.harm is Harm.SHARED]
    assert effects == ["settings.MODEL"]


@pytest.mark.parametrize(
    ("before", "look", "what"),
    [
        # A name that is made from itself.
        (
            "from pathlib import Path",
            "path = 'notes.txt'; path = Path(path); path.write_text(path.read_text())",
            ["the file 'notes.txt', which is read as well"],
        ),
        (
            "from pathlib import Path",
            "key = Path(key); key.write_text(key.read_text())",
            [],
        ),
        # A parameter is not the field of its name.
        (
            "class Note:\n    path: str = 'notes.txt'\n    def keep(self, path):\n"
            "        open(path).read()\n        open(path, 'w').write('')",
            "Note().keep(key)",
            [],
        ),
    ],
    ids=["made from itself", "a parameter", "a field"],
)
def test_which_file_is_the_same_in_each_episode(
    before: str, look: str, what: list[str]
) -> None:
    assert shared(agent(before, look)) == what


@pytest.mark.parametrize(
    ("before", "look"),
    [
        (ORDERS, 'order = dict(ORDERS[key])\norder["state"] = 2'),
        (ORDERS + FIND, 'order = dict(find(key))\norder["state"] = 2'),
        (STORE.replace("CHANGE", "return self.of(row)"), "store.add(key)"),
        (
            STORE.replace("CHANGE", 'new = dict(self.of(row))\n        new["a"] = 1'),
            "store.add(key)",
        ),
        (ORDERS, 'order = ORDERS[key].copy()\norder["state"] = 2'),
        (ROWS, "rows = ROWS[:]\nrows.append(key)"),
        (ROWS, 'for row in ROWS:\n    key = row["state"]'),
        (STORE.replace("CHANGE", "self.rows.append(row)"), "store.find(key)"),
        (
            STORE.replace("CHANGE", "self.rows.append(row)"),
            "store = Store()\nstore.add(key)",
        ),
    ],
)
def test_what_is_copied_or_read_is_not_shared(before: str, look: str) -> None:
    assert shared(agent(before, look)) == []


@pytest.mark.parametrize(
    ("code", "is_known"),
    [
        ("exec(key)", False),
        ("eval(key, {})", False),
        ("eval('1 + 1')", True),
        ("model.eval()", True),
    ],
)
def test_code_that_a_model_wrote_is_not_vouched_for(code: str, is_known: bool) -> None:
    found = survey([Source(Path("/nowhere/agent.py"), agent("", code).encode())])
    effects = [effect for file in found.files for effect in file.effects]
    assert {effect.harm for effect in effects}.isdisjoint(
        {Harm.UNKNOWN, Harm.CODE}
    ) is is_known


REPLIES = """\
import functools
from openai import OpenAI

client = OpenAI()
KEPT: dict[str, str] = {{}}
NAMES: dict[str, str] = {{}}


def ask(question):
    messages = [{{"role": "user", "content": question}}]
    reply = client.chat.completions.create(model="m", messages=messages)
    return reply.choices[0].message.content


{agent}
"""
IN_A_DICT = """\
def run(question: str) -> str:
    if question in KEPT:
        return KEPT[question]
    {before}
    KEPT[question] = {value}
    return KEPT[question]
"""


@pytest.mark.parametrize(
    ("agent", "what"),
    [
        (IN_A_DICT.format(before="", value="ask(question)"), "KEPT"),
        (IN_A_DICT.format(before="said = ask(question)", value="said.strip()"), "KEPT"),
        (
            "def run(question: str) -> str:\n    if (said := KEPT.get(question)) is None:\n"
            "        said = KEPT[question] = ask(question)\n    return said\n",
            "KEPT",
        ),
        (
            "@functools.lru_cache(maxsize=100)\ndef run(question: str) -> str:\n    return ask(question)\n",
            "functools.lru_cache",
        ),
        (
            "def run(question: str) -> str:\n    if question not in KEPT:\n"
            "        KEPT[question] = ask(question)\n    return KEPT[question]\n",
            "KEPT",
        ),
    ],
)
def test_a_cache_of_what_the_model_said_is_shared(agent: str, what: str) -> None:
    """The second rollout of a scenario would ask nothing."""
    found = survey(
        [Source(Path("/nowhere/agent.py"), REPLIES.format(agent=agent).encode())]
    )
    said = [each.what for each in found.effects(Harm.SHARED)]
    assert len(said) == 1 and what in said[0] and "the model" in said[0], said


@pytest.mark.parametrize(
    "value", ["question.title()", "len(question)", "NAMES.get(question)"]
)
def test_a_cache_of_what_anybody_can_work_out_is_not(value: str) -> None:
    agent = IN_A_DICT.format(before="said = ask(question)", value=value)
    agent = agent.replace("return KEPT[question]\n", "return said + KEPT[question]\n")
    found = survey(
        [Source(Path("/nowhere/agent.py"), REPLIES.format(agent=agent).encode())]
    )
    assert found.effects(Harm.SHARED) == []


DESK = """
from dataclasses import dataclass, field

@dataclass
class Session:
    user: str
    said: list = field(default_factory=list)

class Desk:
    def __init__(self):
        self.sessions = {}

    def session(self, user):
        found = self.sessions.get(user)
        if found is None:
            found = self.sessions[user] = Session(user)
        return found

    def say(self, user, text):
        session = self.session(user)
        CHANGE

    def count(self, user):
        return len(self.session(user).said)

desk = Desk()

def note(desk, text):
    desk.sessions.clear()

def shown(desk):
    return list(desk.sessions)
"""


@pytest.mark.parametrize(
    "change",
    [
        "session.said.append(text)",
        "session.user = text",
        "session.said[0] = text",
        "said = session.said; session.said.extend([text])",
    ],
)
def test_an_entry_that_a_method_returns_is_the_object_s(change: str) -> None:
    """A session is made once for each user, and goes on with the next episode."""
    found = shared(agent(DESK.replace("CHANGE", change), "desk.say(key, key)"))
    assert any("the module-level desk" in each for each in found), found


def test_what_is_only_read_or_copied_is_nobody_s() -> None:
    change = "said = list(session.said)\n        said.append(text)"
    assert shared(agent(DESK.replace("CHANGE", change), "desk.count(key)")) == []


def test_an_object_that_a_function_is_given_is_changed_there() -> None:
    given = shared(agent(DESK.replace("CHANGE", "pass"), "note(desk, key)"))
    assert any("the module-level desk" in each for each in given), given
    assert shared(agent(DESK.replace("CHANGE", "pass"), "shown(desk)")) == []


def test_a_default_that_is_handed_out_is_one_for_all() -> None:
    before = "def history(start=[]):\n    return start\n"
    (found,) = shared(agent(before, "history().append(key)"))
    assert found == "the default of start, which history returns"
    fresh = "def history(start=None):\n    return start or []\n"
    assert shared(agent(fresh, "history().append(key)")) == []


@pytest.mark.parametrize("change", ["self.log.append(text)", "self.log += [text]"])
def test_a_default_that_an_object_keeps_is_one_for_all(change: str) -> None:
    kept = (
        "class Worker:\n    def __init__(self, name, log=[]):\n        self.log = log\n\n"
        f"    def work(self, text):\n        {change}\n"
    )
    (found,) = shared(agent(kept, "Worker(key).work(key)"))
    assert found == "the default of log, which Worker.__init__ changes"
    own = kept.replace("self.log = log", "self.log = list(log)")
    assert shared(agent(own, "Worker(key).work(key)")) == []
