"""A call that its author broke over lines stays as it is, whatever fits on a line."""

from __future__ import annotations

from pathlib import Path

import pytest
from agent_files import art_adapt

BROKEN = {
    "arguments on a line": "create(\n        model='m', messages=messages\n    )",
    "closed there": "create(\n        model='m', messages=messages)",
    "with a comma": "create(\n        model='m', messages=messages,\n    )",
    "one a line": "create(\n        model='m',\n        messages=messages\n    )",
    "on one line": "create(model='m', messages=messages)",
}


@pytest.mark.parametrize("call", BROKEN.values(), ids=BROKEN)
@pytest.mark.parametrize("length", ["88", "120"])
def test_it_comes_back_as_it_was(call: str, length: str, tmp_path: Path) -> None:
    file = tmp_path / "agent.py"
    file.write_text(
        "from openai import OpenAI\n\nclient = OpenAI()\n\n\ndef ask(text: str) -> str:\n"
        "    messages = [{'role': 'user', 'content': text}]\n"
        f"    reply = client.chat.completions.{call}\n"
        "    return reply.choices[0].message.content\n"
    )
    before = file.read_bytes()
    options = ("--isolated", "--line-length", length, "agent.py")
    done = art_adapt("--no-train-module", *options, cwd=tmp_path)
    assert done.returncode == 0, done.stderr.decode()
    adapted = file.read_text()
    assert f"recorded(client.chat.completions.create){call[6:]}" in adapted
    assert art_adapt("--undo", *options, cwd=tmp_path).returncode == 0
    assert file.read_bytes() == before


AT_79 = """\
from openai import OpenAI

client = OpenAI()


def ask(question_of_a_customer: str) -> None:
    messages = [{'role': 'user', 'content': question_of_a_customer}]
    REPLY
    SHOWN
"""
SHOWN = "print(reply.choices[0].message.content)"
SHOWN_BROKEN = "print(\n        'The shop says to you:', reply.choices[0].message.content or '-'\n    )"
REPLY = "reply = client.chat.completions.create(model='m', messages=messages)"
REPLY_BROKEN = "reply = client.chat.completions.create(\n        model='gpt-4o-mini', messages=messages\n    )"


@pytest.mark.parametrize(
    ("reply", "shown"),
    [(REPLY_BROKEN, SHOWN), (REPLY, SHOWN_BROKEN), (REPLY_BROKEN, SHOWN_BROKEN)],
)
@pytest.mark.parametrize("longest", ["", f"# {'=' * 90}\nLONG = {'1+' * 50}1\n"])
def test_a_call_that_would_fit_without_a_hook_and_not_with_it_stays_broken(
    reply: str, shown: str, longest: str, tmp_path: Path
) -> None:
    """A file formatted for 79 columns, which nothing says: hooks break calls at 88 so, too."""
    file = tmp_path / "agent.py"
    text = AT_79.replace("REPLY", reply).replace("SHOWN", shown) + longest
    file.write_text(text)
    done = art_adapt("--isolated", "--no-train-module", "agent.py", cwd=tmp_path)
    assert done.returncode == 0, done.stderr.decode()
    assert file.read_text() != text
    again = art_adapt("--isolated", "--no-train-module", "agent.py", cwd=tmp_path)
    assert b"Nothing to change" in again.stdout + again.stderr
    assert art_adapt("--isolated", "--undo", "agent.py", cwd=tmp_path).returncode == 0
    assert file.read_text() == text
