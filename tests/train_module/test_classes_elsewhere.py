"""A train module imports what annotations name from where it is, and so can be imported itself."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from agent_files import art_adapt

ASK = """
    def ask(self, question: str) -> str:
        asked = [{"role": "user", "content": question + str(self.book)}]
        reply = self.client.chat.completions.create(model="gpt-4o", messages=asked)
        return reply.choices[0].message.content
"""
LEDGER = """\
from dataclasses import dataclass


@dataclass
class Entry:
    day: str
    cents: int


class Ledger:
    def __init__(self, entries: list[Entry]) -> None:
        self.entries = entries
"""


def checked(imported: str, parameter: str, held: str) -> str:
    """Return an agent whose class is given what is imported for a checker only."""
    return (
        "from __future__ import annotations\n\nfrom typing import TYPE_CHECKING\n\n"
        f"from openai import OpenAI\n\nif TYPE_CHECKING:\n    {imported}\n\n\n"
        f"class Bot:\n    def __init__(self, {parameter}) -> None:\n"
        f"        self.book, self.client = {held}, OpenAI()\n{ASK}"
    )


AGENTS = {
    "a list in the constructor of another file's class": (
        {
            "ledger.py": LEDGER,
            "bot.py": "from openai import OpenAI\n\nfrom ledger import Ledger\n\n\nclass Bot:\n"
            "    def __init__(self, ledger: Ledger) -> None:\n"
            f"        self.book, self.client = ledger.entries, OpenAI()\n{ASK}",
        },
        "from ledger import Entry, Ledger",
    ),
    "a record that only a checker imports": (
        {
            "ledger.py": LEDGER,
            "bot.py": checked(
                imported="from ledger import Entry",
                parameter="entry: Entry",
                held="entry.day",
            ),
        },
        "from ledger import Entry",
    ),
    "a list of such records": (
        {
            "ledger.py": LEDGER,
            "bot.py": checked(
                imported="from ledger import Entry",
                parameter="entries: list[Entry]",
                held="entries",
            ),
        },
        "from ledger import Entry",
    ),
    "by another name": (
        {
            "ledger.py": LEDGER,
            "bot.py": checked(
                imported="from ledger import Entry as Row",
                parameter="rows: list[Row]",
                held="rows",
            ),
        },
        "from ledger import Entry as Row",
    ),
    "through the module": (
        {
            "ledger.py": LEDGER,
            "bot.py": checked(
                imported="import ledger",
                parameter="entries: list[ledger.Entry]",
                held="entries",
            ),
        },
        "import ledger",
    ),
    "in a package": (
        {
            "pk/__init__.py": "",
            "pk/config.py": "from dataclasses import dataclass\n\n\n@dataclass\nclass Settings:\n"
            "    tone: str\n",
            "pk/bot.py": checked(
                imported="from .config import Settings",
                parameter="settings: Settings",
                held="settings.tone",
            ),
        },
        "from .config import Settings",
    ),
    "pydantic's, whole": (
        {
            "pk/__init__.py": "",
            "pk/models.py": "from pydantic import BaseModel\n\n\nclass Item(BaseModel):\n"
            "    sku: str\n\n\nclass Order(BaseModel):\n    text: str\n    items: list[Item]\n",
            "pk/bot.py": checked(
                imported="from .models import Order",
                parameter="order: Order",
                held="order.text",
            ),
        },
        "from .models import Order",
    ),
}


@pytest.mark.parametrize("where", AGENTS)
def test_a_train_module_has_the_classes_that_it_makes(
    where: str, tmp_path: Path
) -> None:
    files, expected = AGENTS[where]
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    (agent,) = tmp_path.rglob("bot.py")
    done = art_adapt("--isolated", agent.relative_to(tmp_path), cwd=tmp_path)
    assert done.returncode == 0, done.stderr.decode()
    module = agent.with_name("bot_train.py")
    assert expected in module.read_text().splitlines()
    dotted = ".".join(module.relative_to(tmp_path).with_suffix("").parts)
    command = [sys.executable, "-c", f"import {dotted}"]
    ran = subprocess.run(command, cwd=tmp_path, capture_output=True, check=False)
    assert ran.returncode == 0, ran.stderr.decode()
