"""Test the whole way for frameworks that have environments of their own.

Each is installed into ``.venv-frameworks/NAME``, once, which takes minutes:
``python -m pytest -m long tests/rehearsal/test_frameworks_elsewhere.py``.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from agent_files import REPOSITORY, copy_of, with_authorities
from test_frameworks_train import FRAMEWORKS

ENVIRONMENTS = REPOSITORY / ".venv-frameworks"
NEEDED = {
    "agno": ("agno==3.1.10",),
    "autogen": ("autogen-agentchat==0.7.5", "autogen-ext[openai]==0.7.5"),
    "crewai": ("crewai==1.15.30",),
    "dspy": ("dspy==3.4.1",),
    "llama_index": ("llama-index-core==0.14.25", "llama-index-llms-openai==0.8.3"),
    "pydantic_ai": ("pydantic-ai-slim[openai]==2.31.1",),
    "smolagents": ("smolagents[openai]==1.26.0",),
    "strands": ("strands-agents[openai]==1.62.0",),
}


def python_with(name: str) -> str:
    """Return an interpreter that has the framework, ART and this checkout."""
    folder = ENVIRONMENTS / name
    python, done = folder / "bin" / "python", folder / "installed"
    if not done.exists():
        subprocess.run([sys.executable, "-m", "venv", folder], check=True)
        needed = ["-e", f"{REPOSITORY}[train]", *NEEDED[name]]
        install = [python, "-m", "pip", "install", "-q", *needed]
        subprocess.run(install, env=with_authorities(), check=True)
        done.touch()
    return str(python)


@pytest.mark.slow
@pytest.mark.long
@pytest.mark.parametrize("name", NEEDED)
def test_it_rehearses_with_nothing_edited(name: str, tmp_path: Path) -> None:
    folder = copy_of(name, tmp_path, FRAMEWORKS)
    before = (folder / "agent.py").read_bytes()
    command = [python_with(name), "-m", "art_adapt"]

    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [*command, *arguments],
            cwd=folder,
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )

    adapted = run("--isolated", "agent.py")
    assert adapted.returncode == 0, adapted.stderr
    assert "training records every OpenAI client" in adapted.stdout
    assert (folder / "agent.py").read_bytes() == before
    rehearsed = run("rehearse", "agent_train.py", "--json")
    assert rehearsed.returncode == 0, (rehearsed.stdout, rehearsed.stderr)
    figures = json.loads(rehearsed.stdout)["figures"]
    print(name, figures)
    assert figures["recorded"] == figures["calls"] > figures["episodes"]
    assert figures["answered"] > figures["episodes"] / 2
