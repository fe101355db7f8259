"""The stages of a pipeline may share one loop: the pipeline runs the episode, not the loop."""

from __future__ import annotations

from pathlib import Path

import pytest

from art_adapt.source import read_source
from art_adapt.survey.survey import survey

RUNNER = """
import json
from openai import OpenAI

class Runner:
    def __init__(self, system, turns=5):
        self.client, self.system, self.turns = OpenAI(), system, turns

    def run(self, task):
        messages = [{"role": "system", "content": self.system}, {"role": "user", "content": task}]
        for _ in range(self.turns):
            message = self.client.chat.completions.create(
                model="m", messages=messages, tools=TOOLS
            ).choices[0].message
            messages.append(message)
            if not message.tool_calls:
                return message.content
            for call in message.tool_calls:
                messages.append({"role": "tool", "tool_call_id": call.id, "content": use(call)})

"""
INVESTIGATE = """
def investigate(claim, correction=""):
    return Runner("You investigate.").run(f"Claim {claim}. {correction}")

"""
REVIEW = """
def review(case):
    return Runner("You review.").run(f"Case: {case}")

"""
UNTIL_VALID = """
def _case_of(claim):
    correction = ""
    for _ in range(3):
        try:
            return json.loads(investigate(claim, correction))
        except ValueError as error:
            correction = str(error)
    raise ValueError("no case")

"""
PIPELINES = {
    "a public stage after another": (
        f"{INVESTIGATE}{REVIEW}"
        "def decide(claim):\n    case = investigate(claim)\n    return review(case)\n",
        "decide",
    ),
    "a private stage that tries again": (
        f"{INVESTIGATE}{REVIEW}{UNTIL_VALID}"
        "def decide(claim):\n    case = _case_of(claim)\n    return review(case)\n",
        "decide",
    ),
    "a private stage at the end": (
        f"{INVESTIGATE}"
        "def _review(case):\n    return Runner('You review.').run(f'Case: {case}')\n\n"
        "def decide(claim):\n    return _review(investigate(claim))\n",
        "decide",
    ),
    "what comes back through a record": (
        f"{INVESTIGATE}{REVIEW}{UNTIL_VALID}"
        "from dataclasses import dataclass\n\n"
        "@dataclass\nclass Verdict:\n    text: str\n\n"
        "def decide(claim):\n    case = {'claim': claim, **_case_of(claim)}\n"
        "    return Verdict(text=review(case))\n",
        "decide",
    ),
    "methods of a class": (
        "class Office:\n"
        "    def investigate(self, claim):\n        return Runner('You investigate.').run(claim)\n\n"
        "    def review(self, case):\n        return Runner('You review.').run(case)\n\n"
        "    def decide(self, claim):\n"
        "        return self.review(self.investigate(claim))\n",
        "Office.decide",
    ),
}
ALONE = {
    "a demonstration of each": f"{INVESTIGATE}{REVIEW}"
    "def demo():\n    print(investigate('1'))\n    print(review('2'))\n\n"
    "if __name__ == '__main__':\n    demo()\n",
    "nothing that uses both": f"{INVESTIGATE}{REVIEW}",
}


def likeliest(tmp_path: Path, program: str) -> str:
    path = tmp_path / "agent.py"
    path.write_text(RUNNER + program)
    return survey([read_source(path)]).entry_points[0].name


@pytest.mark.parametrize("how", PIPELINES)
def test_a_pipeline_is_the_episode_and_not_the_loop_of_its_stages(
    how: str, tmp_path: Path
) -> None:
    program, name = PIPELINES[how]
    assert likeliest(tmp_path, program) == name


@pytest.mark.parametrize("how", ALONE)
def test_a_loop_with_several_uses_stays_an_episode(how: str, tmp_path: Path) -> None:
    assert likeliest(tmp_path, ALONE[how]) == "Runner.run"
