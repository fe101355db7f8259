"""An agent in a loop whose tool ``look`` does what a test is about, and what a survey finds in it."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent, indent

from art_adapt.source import Source
from art_adapt.survey.side_effects.harm import Effect
from art_adapt.survey.survey import survey

AGENT = """\
{before}
from openai import OpenAI

client = OpenAI()


def look({given}):
{look}
    return {given}


def solve(task):
    messages = [{{"role": "user", "content": task}}]
    for _ in range(5):
        reply = client.chat.completions.create(model="m", messages=messages).choices[0].message
        messages.append({{"role": "assistant", "content": look(reply.content)}})
    return reply.content
{after}
"""


def looking_agent(
    look: str = "pass", before: str = "", after: str = "", given: str = "text"
) -> str:
    """The agent's source: ``look`` is the body of its tool, which takes ``given``."""
    body = indent(dedent(look).strip(), "    ")
    return AGENT.format(
        before=dedent(before), look=body, after=dedent(after), given=given
    )


def effects_of(text: str) -> list[Effect]:
    """The effects that a survey of an agent's source finds, in the order of the file."""
    found = survey([Source(Path("/nowhere/agent.py"), text.encode())])
    return [effect for file in found.files for effect in file.effects]
