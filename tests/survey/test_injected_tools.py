"""A route's agent is made by what it depends on: the tools of that change what episodes share."""

from __future__ import annotations

from pathlib import Path

import pytest
from agent_files import art_adapt

TOOLS = """\
DB = {"refunded": []}


def look(name):
    return DB["refunded"]


def refund(name):
    DB["refunded"].append(name)


class Box:
    def __init__(self):
        self.tools = {}

    def add(self, tool):
        self.tools[tool.__name__] = tool


def full():
    box = Box()
    box.add(look)
    box.add(TOOL)
    return box
"""
AGENT = """\
import json


class Desk:
    def __init__(self, client, box):
        self.client, self.box = client, box

    def answer(self, text):
        messages = [{"role": "user", "content": text}]
        while True:
            reply = self.client.chat.completions.create(model="m", messages=messages, tools=[])
            message = reply.choices[0].message
            messages.append(message)
            if not message.tool_calls:
                return message.content
            for call in message.tool_calls:
                said = self.box.tools[call.function.name](**json.loads(call.function.arguments))
                messages.append({"role": "tool", "tool_call_id": call.id, "content": said})
"""
APP = """\
from typing import Annotated

from agent import Desk
from fastapi import Depends, FastAPI
from openai import OpenAI
from tools import full

app = FastAPI()


def get_box():
    return full()


def get_desk(DESK):
    return Desk(OpenAI(), BOX)


@app.post("/ask")
def ask(text: str, ASKED):
    return desk.answer(text)
"""
SPELLED = {
    "a default": ("desk: Desk = Depends(get_desk)", "", "full()"),
    "an annotation": ("desk: Annotated[Desk, Depends(get_desk)]", "", "full()"),
    "through another": (
        "desk: Desk = Depends(get_desk)",
        "box=Depends(get_box)",
        "box",
    ),
    "by a local name": ("desk=Depends(get_desk)", "", "get_box()"),
    "by another's annotation": (
        "desk: Annotated[Desk, Depends(get_desk)]",
        "box: Annotated[object, Depends(get_box)]",
        "box",
    ),
}


def adapted(folder: Path, kind: str, tool: str) -> str:
    asked, desk, box = SPELLED[kind]
    app = APP.replace("ASKED", asked).replace("DESK", desk).replace("BOX", box)
    for name, text in (("tools", TOOLS.replace("TOOL)", f"{tool})")), ("agent", AGENT)):
        (folder / f"{name}.py").write_text(text)
    (folder / "app.py").write_text(app)
    return art_adapt("--diff", "--entry", "ask", "app.py", cwd=folder).stderr.decode()


@pytest.mark.parametrize("kind", SPELLED)
def test_what_an_injected_tool_changes_is_shared(kind: str, tmp_path: Path) -> None:
    assert "DB, which refund changes" in adapted(tmp_path, kind, "refund")


def test_what_no_tool_changes_is_not(tmp_path: Path) -> None:
    assert "which refund changes" not in adapted(tmp_path, "a default", "look")
