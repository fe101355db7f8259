"""What only the system's message says is the agent's, not the task."""

from __future__ import annotations

from pathlib import Path

import pytest
from agent_files import art_adapt

HEAD = """\
import sys
from openai import OpenAI

client = OpenAI()


def ask(messages, **more):
    return client.chat.completions.create(model="m", messages=messages, **more).choices[0].message.content


"""
SYSTEM = '{"role": "system", "content": %s}'
PART = 'f"You know {prompt}."'
USER = '{"role": "user", "content": text}'
# How a function says its prompt, and the text that it works on.
SAID = {
    "in a list": (
        f"def check(text, prompt):\n    return ask([{SYSTEM % 'prompt'}, {USER}])\n"
    ),
    "under another name": (
        "def check(text, prompt):\n    told = prompt or 'Help.'\n"
        f"    messages = [{SYSTEM % 'told'}]\n    messages.append({USER})\n    return ask(messages)\n"
    ),
    "in a branch": (
        "def check(text, prompt):\n    messages = []\n    if prompt:\n"
        "        messages.append(dict(role='developer', content=prompt))\n"
        f"    messages.append({USER})\n    return ask(messages)\n"
    ),
    "by a helper": (
        f"def said(system, text):\n    return [{SYSTEM % 'system'}, {USER}]\n\n\n"
        "def check(text, prompt):\n    return ask(said(prompt, text))\n"
    ),
    "as instructions": (
        "def check(text, prompt):\n"
        "    return client.responses.create(model='m', instructions=prompt, input=text).output_text\n"
    ),
}
# Here the prompt is, or may be, what the run is about.
NEAR = {
    "a part of it": (
        f"def check(text, prompt):\n    return ask([{SYSTEM % PART}, {USER}])\n"
    ),
    "said by a person, too": (
        f"def check(text, prompt):\n    return ask([{SYSTEM % 'prompt'},\n"
        "        {'role': 'user', 'content': f'{prompt} {text}'}])\n"
    ),
}
CALLS = {
    "handed on": "\n\ndef handle(text):\n    return check(text, 'Check the facts.')\n",
    "a program": "\n\nif __name__ == '__main__':\n    print(check('Rome lies in France.', prompt='Check the facts.'))\n",
}


def _episode(folder: Path, agent: str) -> str:
    (folder / "agent.py").write_text(HEAD + agent)
    done = art_adapt("--diff", "--entry", "check", "agent.py", cwd=folder)
    assert done.returncode == 1, done.stderr
    return done.stdout.decode().partition("+def episode")[2].partition("+@training")[0]


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("kind", SAID)
def test_a_prompt_of_the_project_is_no_field(
    kind: str, call: str, tmp_path: Path
) -> None:
    episode = _episode(tmp_path, SAID[kind] + CALLS[call])
    assert 'prompt="Check the facts."' in episode and "text=scenario.text" in episode


@pytest.mark.parametrize("kind", NEAR)
def test_what_may_be_the_task_stays_a_field(kind: str, tmp_path: Path) -> None:
    assert "prompt=scenario.prompt" in _episode(
        tmp_path, NEAR[kind] + CALLS["a program"]
    )


def test_prompts_that_differ_are_a_field(tmp_path: Path) -> None:
    calls = (
        "\n\ndef handle(text):\n    return check(text, 'Check the facts.')\n\n\n"
        "def polish(text):\n    return check(text, 'Mend the style.')\n"
    )
    assert "prompt=scenario.prompt" in _episode(tmp_path, SAID["in a list"] + calls)


def test_a_demos_prompt_is_not_taken_over(tmp_path: Path) -> None:
    call = "\n\ndef demo():\n    print(check('Rome.', 'Be brief.'))\n"
    assert "prompt=scenario.prompt" in _episode(tmp_path, SAID["in a list"] + call)
