"""An adapted agent starts as it did before, from wherever its project starts it (G3)."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from agent_files import art_adapt

AGENT = """\
from openai import OpenAI
{imports}

class Solver:
    def solve(self, task: str) -> str:
        messages = [{{"role": "user", "content": task}}]
        reply = OpenAI().chat.completions.create(model="m", messages=messages)
        return reply.choices[0].message.content
"""
INIT = {"solvers/__init__.py": ""}
LAYOUTS: dict[str, tuple[str, str, dict[str, str]]] = {
    "a module of the package's own name": (
        "from solvers import LIMIT",
        "import solvers.solver",
        {"solvers/__init__.py": "LIMIT = 3\n", "solvers/solvers.py": "LIMIT = 3\n"},
    ),
    "its full name": (
        "from solvers.solvers import LIMIT",
        "import solvers.solver",
        {"solvers/__init__.py": "", "solvers/solvers.py": "LIMIT = 3\n"},
    ),
    "beside a module like the standard library's": (
        "import logging",
        "import solvers.solver",
        INIT | {"solvers/logging.py": "LIMIT = 3\n"},
    ),
    "beside a module like a library": (
        "import pydantic",
        "import solvers.solver",
        INIT | {"solvers/pydantic.py": "LIMIT = 3\n"},
    ),
    "beside a module like one at the top": (
        "from config import LIMIT",
        "import solvers.solver",
        INIT | {"solvers/config.py": "", "config.py": "LIMIT = 3\n"},
    ),
    "beside a module like a package at the top": (
        "from shared.limits import LIMIT",
        "import solvers.solver",
        INIT | {"solvers/shared.py": "", "shared/limits.py": "LIMIT = 3\n"},
    ),
    "without an __init__.py": (
        "import logging",
        "from solvers.solver import Solver",
        {"solvers/logging.py": "LIMIT = 3\n"},
    ),
    "imports either way, as a script": (
        "try:\n    from .limits import LIMIT\nexcept ImportError:\n    from limits import LIMIT",
        "import runpy; runpy.run_path('solvers/solver.py')",
        {"solvers/limits.py": "LIMIT = 3\n"},
    ),
    "imports relatively in a function, as a script": (
        "def limits():\n    from .limits import LIMIT",
        "import runpy; runpy.run_path('solvers/solver.py')",
        {"solvers/limits.py": "LIMIT = 3\n"},
    ),
}


def starts(folder: Path, main: str) -> str:
    """What is wrong when the project starts; "" where nothing is."""
    (folder / "main.py").write_text(f"import sys\nsys.path += sys.argv[1:]\n{main}\n")
    command = [sys.executable, "main.py"]
    command += ["solvers"] if "run_path" in main else []  # a script's own folder
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    return done.stderr


@pytest.mark.parametrize(
    ("loader", "text"),
    [
        ("solvers/__init__.py", "import importlib, pkgutil\nfor each in pkgutil.iter_modules(__path__):\n    importlib.import_module(f'solvers.{each.name}')\n"),
        ("solvers/__init__.py", "from glob import glob\n__all__ = [n[:-3] for n in glob('solvers/*.py')]\n"),
        ("bot.py", "import importlib, os\nfor name in os.listdir('solvers'):\n    importlib.import_module(f'solvers.{name[:-3]}')\n"),
        ("solvers/__init__.py", "import importlib\nimportlib.import_module('solvers.solver')\n"),
        ("bot.py", "import os\nfor name in os.listdir('solvers'):\n    print(name)\n"),
    ],
)  # fmt: skip
def test_what_loads_all_modules_of_a_folder_is_named(
    loader: str, text: str, tmp_path: Path
) -> None:
    """It would import the train module in production, where ART is not installed."""
    (tmp_path / "solvers").mkdir()
    (tmp_path / loader).write_text(text)
    (tmp_path / "solvers" / "solver.py").write_text(AGENT.format(imports=""))
    done = art_adapt("--isolated", "--diff", "solvers/solver.py", cwd=tmp_path)
    said = b"may load every module in solvers/" in done.stdout + done.stderr
    assert said == ("glob" in text or "iter_modules" in text or "{name[" in text)


@pytest.mark.parametrize(("imports", "main", "files"), LAYOUTS.values(), ids=LAYOUTS)
def test_production_starts_as_before(
    imports: str, main: str, files: dict[str, str], tmp_path: Path
) -> None:
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    (tmp_path / "solvers" / "solver.py").write_text(AGENT.format(imports=imports))
    assert starts(tmp_path, main) == ""
    done = art_adapt(
        "--isolated", "--no-train-module", "solvers/solver.py", cwd=tmp_path
    )
    assert done.returncode == 0, done.stderr.decode()
    assert "art_recording" in (tmp_path / "solvers" / "solver.py").read_text()
    assert starts(tmp_path, main) == ""
