"""An adapted file is imported as it always was, however its folder is found."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from agent_files import art_adapt, first_now

ASK = """\
from openai import OpenAI

{line}

def ask(question: str) -> str:
    messages = [{{"role": "user", "content": question}}]
    for _ in range(3):
        reply = OpenAI().chat.completions.create(model="m", messages=messages)
        messages.append(reply.choices[0].message)
    return messages[-1].content
"""
LOG = "def log(text):\n    print(text)\n"
# The files of a project, the folder that Python starts in, and what it runs there.
LAYOUTS = {
    "it imports from a folder beside its own": (
        {"src/llms/ask.py": "from utils.log import log", "src/utils/log.py": LOG},
        ("src", "import llms.ask"),
        "PYTHONPATH=src python -m llms.ask_train",
    ),
    "a file in another folder imports it": (
        {
            "app/llms/ask.py": "",
            "app/routes/chat.py": "from llms.ask import ask\n",
            "app/main.py": "import routes.chat\n",
        },
        ("app", "import main"),
        "python -m llms.ask_train",
    ),
    "a test imports it from the top": (
        {"src/app/ask.py": "", "checks/test_ask.py": "from src.app.ask import ask\n"},
        (".", "import checks.test_ask"),
        "python -m src.app.ask_train",
    ),
    "several names in parentheses": (
        {"app/ask.py": "", "tools/try.py": "from app import (\n    ask,\n)\n"},
        (".", "from app import ask"),
        "python -m app.ask_train",
    ),
    "it is loaded by its name": (
        {
            "bot/cogs/ask.py": "",
            "bot/main.py": "import importlib, os\nfor name in ['ask']:\n    importlib.import_module(f'cogs.{name}')\n",
        },
        ("bot", "import main"),
        "python -m cogs.ask_train",
    ),
    "it is loaded by a text": (
        {
            "cogs/ask.py": "",
            "run.py": "from importlib import import_module\nimport_module('cogs.ask')\n",
        },
        (".", "import run"),
        "python -m cogs.ask_train",
    ),
    "a module of the folder's name goes before it": (
        {
            "app/ask.py": "",
            "app.py": "NAME = 'app'\n",
            "main.py": "from app import NAME\n",
        },
        ("app", "import ask"),
        "python ask_train.py",
    ),
    "a neighbour is named like the library": (
        {
            "app/providers/ask.py": "from openai import AzureOpenAI\nfrom app.names import NAME",
            "app/providers/openai.py": "from openai import OpenAI\n",
            "app/names.py": "NAME = ''\n",
            "app/__init__.py": "",
            "app/providers/__init__.py": "",
        },
        (".", "import app.providers.ask"),
        "python -m app.providers.ask_train",
    ),
    "it imports from the folder above its own": (
        {
            "src/app/classes/ask.py": "from ..names import NAME",
            "src/app/names.py": "NAME = ''\n",
        },
        ("src", "import app.classes.ask"),
        "python -m app.classes.ask_train",
    ),
    "it imports from two folders above": (
        {
            "app/classes/asking/ask.py": "from ...names import NAME",
            "app/names.py": "NAME = ''\n",
            "app/classes/asking/__init__.py": "",
        },
        (".", "import app.classes.asking.ask"),
        "python -m app.classes.asking.ask_train",
    ),
    "a script in a folder of its own": (
        {"scripts/ask.py": "", "data/names.py": "NAMES = ['scripts.json']\n"},
        ("scripts", "import ask"),
        "python ask_train.py",
    ),
    "a script in a folder that is a package, with packages beside it": (
        {
            "src/ask.py": "from helpers.log import log",
            "src/helpers/log.py": LOG,
            "src/helpers/__init__.py": "",
            "src/__init__.py": "",
        },
        ("src", "import ask"),
        "python ask_train.py",
    ),
    "a package beside a folder that is named like the library": (
        {
            "app/ask.py": "from app.names import NAME",
            "app/openai/client.py": "from openai import AsyncOpenAI\n",
            "app/openai/__init__.py": "",
            "app/names.py": "NAME = ''\n",
            "app/__init__.py": "",
        },
        (".", "import app.ask"),
        "python -m app.ask_train",
    ),
    "a script that says where it finds others": (
        {
            "scripts/ask.py": "import sys\nsys.path.append('..')\nfrom data.names import NAMES",
            "data/names.py": "NAMES = []\n",
        },
        ("scripts", "import ask"),
        "python ask_train.py",
    ),
}


@pytest.mark.parametrize("layout", first_now(LAYOUTS, 6))
def test_it_is_imported_as_before(layout: str, tmp_path: Path) -> None:
    files, (start, statement), command = LAYOUTS[layout]
    (tmp_path / "pyproject.toml").touch()
    for name, text in files.items():
        file = tmp_path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(ASK.format(line=text) if file.stem == "ask" else text)
    agent = next(name for name in files if name.endswith("/ask.py"))

    def production() -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-c", statement],
            cwd=tmp_path / start,
            env={**os.environ, "OPENAI_API_KEY": "sk-x"},
            capture_output=True,
            text=True,
        )

    assert production().returncode == 0, production().stderr
    done = art_adapt("--isolated", agent, cwd=tmp_path)
    assert done.returncode == 0, done.stderr.decode()
    assert production().returncode == 0, production().stderr
    assert f"Run: {command} --help" in (tmp_path / f"{agent[:-3]}_train.py").read_text()
