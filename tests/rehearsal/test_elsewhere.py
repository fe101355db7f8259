"""What an episode does in a process of its own is seen as well: who asks, for which models, how."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from agent_files import first_now
from test_roles import ROLES
from test_witnesses import PLAYERS, rehearsed

ENUM = """\
from enum import Enum


class Name(str, Enum):
    LARGE = "gpt-4o"


def run_agent(question: str) -> str:
    messages = [{"role": "user", "content": question}]
    reply = client.chat.completions.create(model=Name.LARGE, messages=messages)
    return reply.choices[0].message.content
"""
LONG = """\
def run_agent(question: str) -> str:
    messages = [{"role": "user", "content": question}]
    reply = client.chat.completions.create(model="gpt-4o", messages=messages, MOST)
    return reply.choices[0].message.content
"""


@pytest.mark.parametrize("isolate", first_now(["copy", "process"]))
def test_the_roles_of_an_isolated_episode_are_named(
    isolate: str, tmp_path: Path
) -> None:
    agent, _ = ROLES["a function"]
    told = rehearsed(tmp_path, agent, "run_agent", isolate=isolate)
    named = {each["function"] for each in told["figures"]["roles"]}
    assert {"run_agent", "veto"} <= named


@pytest.mark.parametrize("isolate", first_now(["process", "copy", None]))
def test_the_models_of_an_isolated_episode_are_said(
    isolate: str | None, tmp_path: Path
) -> None:
    agent = PLAYERS.replace("OTHER", "'gpt-4o-mini'")
    told = rehearsed(tmp_path, agent, "run_agent", isolate=isolate)
    assert "each episode asks for one model" in told["unwitnessed"]


@pytest.mark.parametrize("isolate", first_now([None, "process"]))
def test_a_model_that_an_enum_names_is_one(isolate: str | None, tmp_path: Path) -> None:
    told = rehearsed(tmp_path, ENUM, "run_agent", isolate=isolate)
    assert "each episode asks for one model" not in told["unwitnessed"]


@pytest.mark.parametrize(
    ("most", "is_said"),
    first_now(
        [
            ("max_tokens=4000", True),
            ("max_completion_tokens=4000", True),
            ("max_tokens=200", False),
            ("temperature=0", False),
        ],
        1,
    ),
)
def test_longer_replies_than_training_allows_are_said(
    most: str, is_said: bool, tmp_path: Path
) -> None:
    told: dict[str, Any] = rehearsed(tmp_path, LONG.replace("MOST", most), "run_agent")
    said = "replies may be as long as the agent allows"
    assert (said in told["unwitnessed"]) == is_said
