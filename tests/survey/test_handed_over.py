"""An agent whose method is handed to what runs it is set up as the project does it."""

from __future__ import annotations

from pathlib import Path

import pytest
from agent_files import art_adapt

AGENT = """\
from openai import OpenAI


class Bot:
    def __init__(self, handler=None):
        self.handler, self.api = handler, object()

    def on(self, handler):
        self.handler = handler

    def start(self):
        print(self.handler(input("> ")))


class Assistant:
    def __init__(self):
        self.client = OpenAI()

    def set_style(self, style):
        self.style = style

    def handle(self, message: str) -> str:
        asked = [{{"role": "system", "content": self.style}}, {{"role": "user", "content": message}}]
        return self.client.chat.completions.create(model="m", messages=asked).choices[0].message.content


def main():
    assistant = Assistant()
{starting}


if __name__ == "__main__":
    main()
"""
STYLE = 'assistant.set_style("short")'
STARTS = {
    "by position": f"bot = Bot(assistant.handle)\n{STYLE}\nbot.start()",
    "by name": f"bot = Bot(handler=assistant.handle)\n{STYLE}\nbot.start()",
    "to a method": f"bot = Bot()\nbot.on(assistant.handle)\n{STYLE}\nbot.start()",
    "set up before": f"{STYLE}\nbot = Bot(assistant.handle)\nbot.start()",
    "to a function": f"{STYLE}\nserve(assistant.handle)",
    "called": f"{STYLE}\nprint(assistant.handle(input()))",
}


def episode(folder: Path, starting: str) -> str:
    body = "\n".join(f"    {line}" for line in starting.splitlines())
    (folder / "agent.py").write_text(AGENT.format(starting=body))
    done = art_adapt("--diff", "--entry", "Assistant.handle", "agent.py", cwd=folder)
    assert done.returncode == 1, done.stderr
    return done.stdout.decode().partition("+def episode")[2].partition("+@training")[0]


@pytest.mark.parametrize("starting", STARTS.values(), ids=STARTS)
def test_it_is_set_up_before_it_runs(starting: str, tmp_path: Path) -> None:
    assert 'agent.set_style(style="short")' in episode(tmp_path, starting)


def test_what_another_object_holds_is_made_or_to_be_filled_in(tmp_path: Path) -> None:
    starting = STARTS["by name"].replace('"short"', "bot.api")
    said = episode(tmp_path, starting)
    assert "agent.set_style(style=" in said and "scenario.style" not in said


def test_an_agent_that_is_handed_nowhere_is_not_set_up(tmp_path: Path) -> None:
    assert "set_style" not in episode(tmp_path, f"{STYLE}\nkeep(assistant)")
