"""An adapted agent loads in every way in which it loaded before (G3)."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from agent_files import art_adapt, first_now

AGENT = """\
from openai import OpenAI
{above}

def run(client: OpenAI, question: str) -> str:
    messages = [{{"role": "user", "content": question}}]
    reply = client.chat.completions.create(model="m", messages=messages)
    return reply.choices[0].message.content
"""
WAYS = Path(__file__).with_name("ways_of_loading.py")
ONE = "from art_recording import final_answer, recorded"
# Layouts: the files, which one is the agent, and how its hooks are imported; "both" where
# nothing proves how the agent itself is.
LAYOUTS = {
    "a file": ({"agent.py": ""}, "both"),
    "a folder without __init__.py": ({"app/agent.py": ""}, "both"),
    "that a program imports": (
        {"app/agent.py": "", "main.py": "from app.agent import run\n"},
        "both",
    ),
    "that its neighbour imports by name": (
        {"app/agent.py": "", "app/main.py": "from agent import run\n"},
        "both",
    ),
    "two folders deep": ({"src/app/agent.py": "", "pyproject.toml": ""}, "both"),
    "a package": ({"app/__init__.py": "", "app/agent.py": ""}, "both"),
    "a guarded import of a neighbour": (
        {
            "app/agent.py": 'if __name__ == "__main__":\n    import tools\n',
            "app/tools.py": "",
        },
        "both",
    ),
    "a neighbour that may be another's": (
        {"app/agent.py": "import tools\n", "app/tools.py": "", "tools.py": ""},
        "both",
    ),
    "a neighbour, or the package's": (
        {
            "app/agent.py": "try:\n    import tools\nexcept ImportError:\n"
            "    from . import tools\n",
            "app/tools.py": "",
        },
        "both",
    ),
    "a neighbour in a function": (
        {"app/agent.py": "def f():\n    import tools\n", "app/tools.py": ""},
        "both",
    ),
    "a neighbour": (
        {"app/agent.py": "from tools import f\n", "app/tools.py": "f = 1\n"},
        ONE,
    ),
    "a neighbour, as a module": (
        {"app/agent.py": "import tools as t\nt.f\n", "app/tools.py": "f = 1\n"},
        ONE,
    ),
    "a neighbour that does not have what is used": (
        {"app/agent.py": "import tools\n", "app/tools.py": ""},
        "both",
    ),
    "a library beside a neighbour of its name": (
        {"app/agent.py": "import pydantic\n", "app/pydantic.py": "LIMIT = 1\n"},
        "both",
    ),
    "a relative import": (
        {"app/agent.py": "from . import tools\n", "app/tools.py": ""},
        ONE.replace("from ", "from ."),
    ),
    "an absolute import of its package": (
        {"app/agent.py": "from app.tools import f\n", "app/tools.py": "f = 1\n"},
        ONE.replace("from ", "from app."),
    ),
    "of its package, from further down": (
        {
            "app/__init__.py": "",
            "app/core/agent.py": "import app.tools\n",
            "app/tools.py": "",
        },
        ONE.replace("from ", "from app."),
    ),
    "of a package beside its own": (
        {"app/agent.py": "import tools.f\n", "tools/f.py": ""},
        "both",
    ),
    "in a package of a library's name, below its own": (
        {
            "src/app/__init__.py": "",
            "src/app/openai/__init__.py": "",
            "src/app/openai/agent.py": "from openai import OpenAI\nfrom app.text import f\n",
            "src/app/text.py": "f = 1\n",
        },
        ONE.replace("from ", "from app."),
    ),
    "in a package of a library's name, by its neighbours": (
        {
            "app/__init__.py": "",
            "app/openai/__init__.py": "from .agent import solve\n",
            "app/openai/agent.py": "import openai\nfrom ..text import f\nopenai.OpenAI\n",
            "app/text.py": "f = 1\n",
        },
        ONE.replace("from ", "from ."),
    ),
    "what its package exports by a star": (
        {
            "app/__init__.py": "from .tools import *\n",
            "app/agent.py": "from app import f\n",
            "app/tools.py": "f = 1\n",
        },
        ONE.replace("from ", "from app."),
    ),
    "of its package, by a library's name": (
        {"openai/agent.py": "from openai import OpenAI\n"},
        "both",
    ),
}


def ways(root: Path, *files: Path) -> dict[str, str]:
    """Return what came of loading files of a tree, all of them where none is named."""
    done = subprocess.run(
        [sys.executable, WAYS, root, *files], capture_output=True, check=True
    )
    found: dict[str, str] = json.loads(done.stdout.splitlines()[-1])
    return found


@pytest.mark.parametrize("layout", first_now(LAYOUTS, 8))
def test_what_loaded_before_loads_afterwards(layout: str, tmp_path: Path) -> None:
    files, expected = LAYOUTS[layout]
    root = tmp_path / "project"
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        is_agent = name.endswith("agent.py")
        (root / name).write_text(AGENT.format(above=text) if is_agent else text)
    agent = next(root.rglob("agent.py"))
    before = ways(root)
    done = art_adapt("--isolated", agent.relative_to(root), cwd=root)
    assert done.returncode == 0, done.stderr.decode()
    text = agent.read_text()
    forms = [line for line in text.splitlines() if "art_recording" in line]
    if expected == "both":
        assert {form.split()[1] for form in forms} == {
            "art_recording",
            ".art_recording",
        }
    else:
        assert forms == [expected]
    after = ways(root)
    worse = {way: said for way, said in after.items() if said and not before[way]}
    assert worse == {} and "" in before.values()


def test_an_older_import_of_the_hooks_stays_until_it_is_edited(tmp_path: Path) -> None:
    """A second run changes nothing (G2); a new hook brings the import that always holds."""
    agent = tmp_path / "app" / "agent.py"
    agent.parent.mkdir()
    agent.write_text(AGENT.format(above=""))
    assert art_adapt("--isolated", "app/agent.py", cwd=tmp_path).returncode == 0
    assert b"Nothing to change" in art_adapt("--isolated", "app", cwd=tmp_path).stdout
    older = agent.read_text()
    start, end = older.index("try:"), older.index("\n\n\ndef")
    agent.write_text(older[:start] + ONE + older[end:])
    assert b"Nothing to change" in art_adapt("--isolated", "app", cwd=tmp_path).stdout
    undone = art_adapt("--isolated", "--undo", "app/agent.py", cwd=tmp_path)
    assert undone.returncode == 0
    assert agent.read_text() == AGENT.format(above="")
    assert sorted(path.name for path in agent.parent.iterdir()) == ["agent.py"]
