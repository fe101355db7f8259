"""Rehearse agents on a real vLLM, and print what was seen as a table.

``python tests/end_to_end/engine.py PYTHON``, with the Python of an environment that has vLLM
(docs/engine.md says how to make one). docs/engine.md keeps the last result.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from datetime import date
from importlib.metadata import version
from pathlib import Path

TESTS = Path(__file__).parents[1]
sys.path.insert(0, str(TESTS))

from agent_files import agent_file, copy_of  # noqa: E402

REWARD = """\
def f(trajectory: object, scenario: object) -> float:
    said = str(trajectory.messages())
    return len(said) % 97 / 97
"""


@dataclass(frozen=True)
class Case:
    """A fixture's agent, and the base model that its train module names."""

    name: str
    agent: str
    base_model: str


QWEN = "OpenPipe/Qwen3-14B-Instruct"
CASES = (
    Case("tool loop", "support_loop", QWEN),
    Case("sub-agents, several histories", "parallel_subagents", QWEN),
    Case("streamed", "streaming", QWEN),
    Case("tool loop, Llama 3", "support_loop", "meta-llama/Llama-3.1-8B-Instruct"),
    Case("tool loop, Qwen 3.5", "support_loop", "Qwen/Qwen3.5-9B"),
)
HEAD = (
    "| agent | parser | episodes | tool calls | tokens trained | the engine's own | apart "
    "| LoRA loaded | resumed | served as printed | seconds |\n"
    "|---|---|---|---|---|---|---|---|---|---|---|"
)


def row(case: Case, python: str) -> str:
    """Adapt one agent, rehearse it on the engine, and return its line of the table."""
    with tempfile.TemporaryDirectory() as temporary:
        folder = copy_of(case.agent, Path(temporary))
        (folder / "rewards.py").write_text(REWARD)
        options = [
            "--isolated",
            "--reward",
            "rewards:f",
            "--base-model",
            case.base_model,
        ]
        command = [sys.executable, "-m", "art_adapt"]
        subprocess.run(
            [*command, *options, agent_file(folder).relative_to(folder)],
            cwd=folder,
            check=True,
            capture_output=True,
        )
        (module,) = folder.rglob("agent_train.py")
        done = subprocess.run(
            [*command, "rehearse", module, "--engine", python, "--json"],
            cwd=folder,
            check=False,
            capture_output=True,
            text=True,
        )
    if not done.stdout.startswith("{"):
        return f"| {case.name} | {done.stderr.strip()[-400:]} |"
    said = json.loads(done.stdout)
    seen = said["engine"]
    if seen is None:
        return f"| {case.name} | {said['findings']} |"
    cells = (
        case.name,
        seen["parser"],
        seen["episodes"],
        seen["tool_calls"],
        seen["tokens"],
        seen["agreed"],
        f"{seen['apart']:.0e}",
        len(seen["names"]),
        f"at {seen['resumed_at']} of {seen['stopped_at']}"
        + (", same weights" if seen["resumed_same"] else ", OTHER WEIGHTS"),
        "yes" if seen["answered"] else f"NO: {seen['refused']}",
        f"{said['seconds']:.0f}",
    )
    return f"| {' | '.join(map(str, cells))} |"


def main() -> None:
    (python,) = sys.argv[1:]
    of = f"Python {sys.version_info.major}.{sys.version_info.minor}"
    print(f"{date.today()}, {of}, ART {version('openpipe-art')}\n\n{HEAD}", flush=True)
    for case in CASES:
        print(row(case, python), flush=True)


if __name__ == "__main__":
    main()
