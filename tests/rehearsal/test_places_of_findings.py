"""A finding points at the line to change, and comes after what may have caused it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from agent_files import art_adapt
from test_rehearse import REWARD, rehearse
from test_witnesses import HEAD, RIGHT

CONSTANT = "import art\n\n\ndef f(trajectory: art.Trajectory, scenario: object) -> float:\n    return 0.5\n"
BEGINS = '    messages = [{"role": "user", "content": question}]\n'
# A mistake that is made after adapting: the file and what is replaced in it, what is found, and
# the line that it is found at.
PLANTED = {
    "a list of the module": (
        {"agent.py": (BEGINS, f"{BEGINS[:-2].replace('    messages = [', '    messages = ALL; ALL.append(')})\n")},
        "cross-talk",
        "ALL.append(",
    ),
    "a reply that is left out": (
        {"agent.py": ("        messages.append(message)\n", "")},
        "reply without a call",
        "client.chat.completions.create",
    ),
    "a constant reward": ({"rewards.py": (REWARD, CONSTANT)}, "reward", "def f("),
    "a tool that raises": (
        {"agent.py": ('    return "sunny in " + city', "    return city.weather"), },
        "tool fails",
        "def look(",
    ),
    "a helper that raises": (
        {"agent.py": (BEGINS, f"{BEGINS}    {{}}['city']\n")},
        "failed",
        "{}['city']",
    ),
}  # fmt: skip


def found(
    folder: Path, *planted: Mapping[str, tuple[str, str]]
) -> list[dict[str, Any]]:
    """Adapt an agent, change its files as ``planted``, and return what a rehearsal finds."""
    (folder / "agent.py").write_text(HEAD.replace("\n\n\n", "\nALL = []\n\n\n") + RIGHT)
    (folder / "rewards.py").write_text(REWARD)
    rows = [json.dumps({"question": f"Is it dry in {n}?"}) for n in range(4)]
    (folder / "scenarios.jsonl").write_text("\n".join(rows) + "\n")
    art_adapt("agent.py", "-y", "--reward", "rewards:f", cwd=folder)
    for name, (old, new) in (each for edits in planted for each in edits.items()):
        text = (folder / name).read_text()
        assert old in text
        (folder / name).write_text(text.replace(old, new))
    _, out, errors = rehearse("agent_train.py", "--json", cwd=folder)
    assert out, errors
    findings: list[dict[str, Any]] = json.loads(out)["findings"]
    return findings


@pytest.mark.parametrize("kind", PLANTED)
def test_a_finding_is_at_the_line_to_change(kind: str, tmp_path: Path) -> None:
    planted, name, line = PLANTED[kind]
    findings = found(tmp_path, planted)
    (it,) = (each for each in findings if each["name"] == name)
    text = Path(it["path"]).read_text().splitlines()[it["line"] - 1]
    assert line in text, (it, findings)


def test_what_may_follow_from_a_finding_comes_after_it(tmp_path: Path) -> None:
    unhooked = {
        "agent.py": ("recorded(client.chat.completions.create)", "client.chat.completions.create")
    }  # fmt: skip
    findings = found(tmp_path, unhooked)
    names = [each["name"] for each in findings]
    assert names[0] == "unhooked" and len(names) > 1
    assert all(e["fix"].startswith("fix 'unhooked' first") for e in findings[1:])


# What AUXILIARY names, and what is said of it.
AUXILIARY = {
    "a function with a hook": ("ask", "because its calls have hooks", "--auxiliary ask"),
    "no function": ("run_agnet", "has no such function", "do you mean run_agent?"),
}  # fmt: skip


@pytest.mark.parametrize("kind", AUXILIARY)
def test_a_name_that_leaves_nothing_out_is_found(kind: str, tmp_path: Path) -> None:
    name, what, fix = AUXILIARY[kind]
    empty = "AUXILIARY: tuple[str, ...] = ()"
    named = empty.replace("()", f'("{name}",)')
    (it,) = found(tmp_path, {"agent_train.py": (empty, named)})
    assert it["name"] == "auxiliary" and what in it["what"] and fix in it["fix"]


def test_names_of_what_is_not_trained_are_no_finding(tmp_path: Path) -> None:
    """A model that an agent asks, and a function without a hook."""
    side = (
        'def titled(text: str) -> str:\n    asked = [{"role": "user", "content": text}]\n'
        '    reply = client.chat.completions.create(model="small", messages=asked)\n'
        "    return reply.choices[0].message.content\n\n\n"
    )
    agent = {"agent.py": ("def run_agent", side + "def run_agent")}
    begins = (BEGINS, f"{BEGINS}    titled(question)\n")
    empty = "AUXILIARY: tuple[str, ...] = ()"
    named = empty.replace("()", '("titled",)')
    assert found(tmp_path, agent, {"agent.py": begins, "agent_train.py": (empty, named)}) == []  # fmt: skip
