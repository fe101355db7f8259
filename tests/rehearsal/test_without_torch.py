"""A rehearsal that trains nothing does without torch, and an agent that needs it gets it."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from pathlib import Path

import pytest
from agent_files import art_adapt

AGENT = """\
import sys

from openai import OpenAI
{imported}

def run_agent(question: str) -> str:
    loaded = {{"torch", "transformers"}} & sys.modules.keys()
    if not loaded >= {{*{loaded}}} or bool(loaded) != bool({loaded}):
        raise RuntimeError(f"loaded: {{loaded}}")  # and the rehearsal says so
    messages = [{{"role": "user", "content": question}}]
    reply = OpenAI().chat.completions.create(model="m", messages=messages)
    return reply.choices[0].message.content
"""


@pytest.mark.skipif(
    importlib.util.find_spec("torch") is None, reason="torch is not installed"
)
@pytest.mark.parametrize(
    ("imported", "loaded"),
    [("", []), ("import torch\n\nONE = torch.ones(1)\n", ["torch"])],
    ids=["not needed", "needed"],
)
@pytest.mark.parametrize("isolate", ["none", "process"])
def test_torch_is_imported_where_it_is_needed(
    imported: str, loaded: list[str], isolate: str, tmp_path: Path
) -> None:
    text = AGENT.format(imported=imported, loaded=loaded)
    (tmp_path / "agent.py").write_text(text)
    options = ("--isolated", "--isolate", isolate, "agent.py")
    assert art_adapt(*options, cwd=tmp_path).returncode == 0
    rows = [json.dumps({"question": f"How is {at}?"}) for at in range(4)]
    (tmp_path / "scenarios.jsonl").write_text("\n".join(rows))
    done = subprocess.run(
        [sys.executable, "-m", "art_adapt", "rehearse", "agent_train.py"],
        cwd=tmp_path,
        capture_output=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stdout.decode() + done.stderr.decode()
