"""A hook takes no name that a file uses already, however it uses it (G3)."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from agent_files import art_adapt

AGENT = """\
from types import SimpleNamespace as N

from openai import OpenAI
{above}

def run(client: OpenAI, question: str) -> str:
    messages = [{{"role": "user", "content": question}}]
    reply = client.chat.completions.create(model="m", messages=messages)
    return reply.choices[0].message.content


if __name__ == "__main__":
    message = N(message=N(content="hello"))
    create = lambda **given: N(choices=[message])
    print(run(N(chat=N(completions=N(create=create))), "?"))
"""
THIEF = "def {name}(value, *more):\n    raise SystemExit('stolen')\n"
BOTH = THIEF.format(name="recorded") + THIEF.format(name="art_recorded")
SPELLINGS = {
    "both names defined": BOTH,
    "three names defined": f"{BOTH}art2_recorded = recorded\n",
    "the second one of another hook": "reward = art_final_answer = final_answer = 1\n",
    "a parameter and a global": (
        "recorded = 1\n\ndef f(art_recorded):\n    global art2_recorded\n"
        "    art2_recorded = 1\n"
    ),
    "imported": "import json as recorded, json as art_recorded\n",
    "a pattern": ("match [1, 2]:\n    case [recorded, *art_recorded]:\n        pass\n"),
    "exec of a text": f"exec({BOTH!r})\n",
    "exec of a name": f"code = {BOTH!r}\nexec(code)\n",
    "globals": (
        f"recorded = 1\n{THIEF.format(name='thief')}globals()['art_recorded'] = thief\n"
    ),
    "setattr on the module": (
        f"import sys\n{THIEF.format(name='thief')}for name in ('recorded', 'art_recorded'):\n"
        "    setattr(sys.modules[__name__], name, thief)\n"
    ),
    "import * of a module": "from thieves import *\n",
    "import * of a library": "from tkinter_like import *\n",
}


@pytest.mark.parametrize("spelling", SPELLINGS)
def test_no_name_is_taken_twice(spelling: str, tmp_path: Path) -> None:
    agent = tmp_path / "agent.py"
    agent.write_text(AGENT.format(above=SPELLINGS[spelling]))
    (tmp_path / "thieves.py").write_text(BOTH)
    library = tmp_path / "library" / "tkinter_like.py"
    library.parent.mkdir()
    library.write_text(BOTH)
    before = agent.read_bytes()
    done = art_adapt("--isolated", "agent.py", cwd=tmp_path)
    assert done.returncode == 0, done.stderr.decode()
    used = subprocess.run(
        [sys.executable, "agent.py"],
        cwd=tmp_path,
        env={"PYTHONPATH": str(library.parent)},
        capture_output=True,
        check=False,
    )
    assert used.stdout == b"hello\n", used.stderr.decode()
    assert (
        b"Nothing to change" in art_adapt("--isolated", "agent.py", cwd=tmp_path).stdout
    )
    assert art_adapt("--isolated", "--undo", "agent.py", cwd=tmp_path).returncode == 0
    assert agent.read_bytes() == before
