"""Test that the scripted model answers in the form that a prompt asks for in words."""

from __future__ import annotations

import json
import re
from random import Random
from typing import Any, Literal

import pydantic
import pytest

from art_adapt.rehearsal.replies import RELIABLE, reply_to


def answers(*texts: str, **asked: Any) -> list[str]:
    """The answers of ten requests, whose last message is the user's."""
    roles = ["system"] * (len(texts) - 1) + ["user"]
    messages = [{"role": r, "content": t} for r, t in zip(roles, texts, strict=True)]
    said = (
        reply_to({"messages": messages, **asked}, (), Random(n), n, faults=RELIABLE)
        for n in range(10)
    )
    return [reply.content or "" for reply in said]


JSON_PROMPTS = {
    "an object": 'Respond with JSON: {"verdict": "yes", "score": 7}',
    "in a fence": 'Output format:\n```json\n{"verdict": "yes", "score": 0.5}\n```',
    "braces of a template": 'Return ONLY valid JSON like {{"verdict": "no", "score": 1}}',
    "placeholders": 'Answer in JSON.\n{\n  "verdict": <yes or no>,\n  "score": <0-10>\n}',
    "comments": 'Reply with a JSON object:\n{\n "verdict": "yes", // or no\n "score": 3,\n}',
    "Python's quotes": "You must output JSON: {'verdict': 'yes', 'score': 2}",
    "a variable": 'Reply with JSON {"verdict": "yes", "score": n}, n one of [1, 2].',
    "dots": 'Write valid JSON: {"verdict": "yes", "score": 1, ...}',
    "the last of two": 'You get {"a": 1}. Respond in JSON: {"verdict": "x", "score": 1}',
    "an object at the end": 'Reply in JSON: {"score": 1, "verdict": {"text": "y"}}',
    "values in words": 'Reply with JSON only: {"verdict": yes or null, "score": 1}',
    "types": 'Return JSON: {\n "verdict": string,\n "score": integer from 1 to 5\n}',
    "parts": 'Produce json: {"verdict": {"text": "y"}, "score": [1, 2]}',
}


@pytest.mark.parametrize("prompt", JSON_PROMPTS.values(), ids=list(JSON_PROMPTS))
@pytest.mark.parametrize("system", [True, False])
def test_json_by_example(prompt: str, system: bool) -> None:
    texts = (prompt, "Is it true?") if system else ("You judge.", prompt)
    for said in answers(*texts):
        assert set(json.loads(said)) == {"verdict", "score"}


@pytest.mark.parametrize("listed", ["[...]", "[…]", '["...", "..."]', '["a", "b"]'])
def test_an_example_says_what_a_json_object_holds(listed: str) -> None:
    """The request asks for one, so its words need not; several of what is listed come back."""
    prompt = f'Split the topic into questions: {{"questions": {listed}}}'
    for said in answers(prompt, response_format={"type": "json_object"}):
        questions = json.loads(said)["questions"]
        assert len(questions) == 2 and all(questions)


class Step(pydantic.BaseModel):
    tool: Literal["search", "finish"]
    about: Detail


class Detail(pydantic.BaseModel):
    text: str
    count: int


SCHEMA_PROMPTS = {
    "as Python prints it": "Think in steps of this form: {schema}",
    "as JSON": "You answer like\n```\n{json}\n```\nand in no other way.",
    "after an example": 'Given {{"a": 1}}, respond with JSON that fits {json}',
}


@pytest.mark.parametrize("prompt", SCHEMA_PROMPTS)
def test_a_schema_in_a_prompt_is_filled_in(prompt: str) -> None:
    schema = Step.model_json_schema()
    text = SCHEMA_PROMPTS[prompt].format(schema=schema, json=json.dumps(schema))
    for said in answers(text, "Where is it?"):
        Step.model_validate_json(said)


def test_the_schemas_of_tools_are_not_the_answers() -> None:
    tool = {"name": "look", "parameters": {"type": "object", "properties": {"of": {}}}}
    for said in answers(f"You have tools: {json.dumps([tool])}", "Where is it?"):
        assert not said.startswith("{")


def test_alternatives_and_types_of_an_example() -> None:
    prompt = 'Respond in JSON: {"kind": "bug | feature", "sure": true, "tags": ["a"]}'
    read = [json.loads(said) for said in answers(prompt)]
    assert {each["kind"] for each in read} == {"bug", "feature"}
    assert {type(each["sure"]) for each in read} == {bool}
    assert all(isinstance(each["tags"][0], str) for each in read)


def test_alternatives_that_stand_without_quotes() -> None:
    prompt = (
        'Respond in JSON: {"twin": null or id, "sure": true|false, "of": number 1-5}'
    )
    read = [json.loads(said) for said in answers(prompt)]
    assert {each["twin"] for each in read} == {None, "id"}
    assert {each["sure"] for each in read} == {True, False}
    assert {type(each["of"]) for each in read} == {int}


@pytest.mark.parametrize(
    "place", ["true_or_false", "<true or false>", "true/false", '"true/false"']
)
def test_a_place_for_a_boolean_gets_one(place: str) -> None:
    read = [
        json.loads(said)
        for said in answers(
            f'Respond in JSON: {{"vote": {place}, "who": "src/main.py"}}'
        )
    ]
    assert {each["vote"] for each in read} == {True, False}
    assert "src" not in {each["who"] for each in read}


def test_an_array() -> None:
    prompt = 'Generate 3 queries. Output JSON array only: ["q1", "q2", "q3"]'
    assert all(len(json.loads(said)) == 3 for said in answers(prompt))


@pytest.mark.parametrize(
    "prompt",
    [
        "What is JSON? It looks like {}.",
        'The order is {"id": 7}. Where is it?',
        "Answer in JSON.",
        "Read <https://example.org/a>. Docs: <https://example.org/b>",
        "Write to: <ann@example.org>",
        "<title>Home</title> is the page's title.",
        "Do not use \\boxed{}. Never write <think> tags.",
        "Which of [1] and [2] is right? Answer in one word, not in JSON [3].",
    ],
)
def test_plain_text_otherwise(prompt: str) -> None:
    for said in answers(prompt):
        assert re.fullmatch(r"[\w ]+", said)


REACT = """Use this format:
Thought: think about it
Action: the action to take, one of [search, calculate]
Action Input: its input
Observation: what came of it
... (this can repeat)
Final Answer: the answer
"""
EXAMPLES = """You run in a loop of Thought, Action, PAUSE, Observation.
At the end you output an Answer.
Example session:
Thought: I should look it up.
Action: wikipedia: Delft
PAUSE
Answer: A city.
"""


def test_actions_in_text() -> None:
    said = answers(REACT, "How old is Delft?")
    actions = [re.search(r"^Action: (\w+)\nAction Input: .", s, re.M) for s in said]
    assert {match[1] for match in actions if match} == {"search", "calculate"}
    assert any("Final Answer: " in each for each in said)
    seen = "Observation: no" * 3
    assert all("Final Answer: " in s for s in answers(REACT, "How old?", seen))


def test_actions_by_example() -> None:
    said = answers(EXAMPLES, "How old is Delft?")
    assert any("\nAction: wikipedia: Delft" in each for each in said)
    assert any("\nAnswer: " in each for each in said)


def test_fields_between_markers() -> None:
    prompt = (
        "Respond with the corresponding output fields, starting with the field "
        "`[[ ## thought ## ]]`, then `[[ ## tool ## ]]` (must be formatted as a valid "
        "Python Literal['weather', 'finish']), then `[[ ## args ## ]]` (must be "
        "formatted as a valid Python dict[str, Any]), and then ending with the marker "
        "for `[[ ## completed ## ]]`."
    )
    for said in answers(prompt):
        parts = re.split(r"\[\[ ## (\w+) ## \]\]", said)
        assert parts[1::2] == ["thought", "tool", "args", "completed"]
        assert parts[4].strip() in ("weather", "finish") and parts[6].strip() == "{}"
    prompt = (
        "Respond with a JSON object in the following order of fields: `answer`, then "
        "`sure` (must be formatted as a valid Python bool)."
    )
    for said in answers(prompt, response_format={"type": "json_object"}):
        assert set(json.loads(said)) == {"answer", "sure"}


PLACES = {
    "a label with its alternatives": (
        "Finish with one line:  REASON: <price|bugs|unknown>",
        r"REASON: (price|bugs|unknown)$",
    ),
    "labels in a list": (
        "Answer in this format:\n- VERDICT: [pass/fail]\n- **Score**: <0-10>",
        r"VERDICT: (pass|fail)\nScore: ([0-9]|10)$",
    ),
    "tags that are shown": (
        "Write <think>your steps</think> and <answer>...</answer>.",
        r"<think>.+</think>\n<answer>.+</answer>$",
    ),
    "tags that are named": ("Put it in <answer> tags.", r"<answer>.+</answer>$"),
    "a pair of tags": ("Use <sql></sql> for the query.", r"<sql>.+</sql>$"),
    "a range of fractions": ("SCORE: <0.0-1.0>", r"SCORE: [01]\.\d+$"),
    "a range in words": ("Score: <integer between 1 and 9>", r"Score: [1-9]$"),
    "words for alternatives": ("Verdict: <PASS or FAIL>", r"Verdict: (PASS|FAIL)$"),
    "a box": ("Give the result as \\boxed{}.", r"\\boxed\{\d+\}$"),
}


@pytest.mark.parametrize("system", [True, False])
@pytest.mark.parametrize("case", PLACES)
def test_an_answer_in_the_place_that_a_prompt_shows(case: str, system: bool) -> None:
    prompt, form = PLACES[case]
    texts = (prompt, "Why?") if system else ("You help.", prompt)
    for said in answers(*texts):
        assert re.search(form, said), said


CHOICES = {
    "quoted": ("Is it done? Answer only 'Yes' or 'No', nothing else.", {"Yes", "No"}),
    "double quotes": ('Respond with "continue" or "stop".', {"continue", "stop"}),
    "three": ("Return one of `low`, `mid` or `high`.", {"low", "mid", "high"}),
    "bold": ("Reply with **PASS** or **FAIL**.", {"PASS", "FAIL"}),
    "capitals": ("Reply YES or NO.", {"YES", "NO"}),
    "plain": ("The answer should be only yes or no.", {"yes", "no"}),
    "after a colon": (
        "Answer with one word: bill, bug or how-to.",
        {"bill", "bug", "how-to"},
    ),
    "of two, at the end": ("Reply with exactly one of: low or high", {"low", "high"}),
    "with a slash": ("Output 'true'/'false' only.", {"true", "false"}),
}


@pytest.mark.parametrize("name", CHOICES)
@pytest.mark.parametrize("system", [True, False])
def test_one_of_several_words(name: str, system: bool) -> None:
    prompt, words = CHOICES[name]
    texts = (prompt, "The plan is ready.") if system else ("You judge.", prompt)
    assert set(answers(*texts)) == words


@pytest.mark.parametrize(
    "prompt",
    [
        "Answer the question or explain why you cannot.",
        "Return the order 'A-1' if it is late, or say so.",
        "The user may answer with a number or a date.",
        "It's a 'yes' or 'no' world.",
        "Answer the mail: say when the order arrives, or ask for its number.",
        "Reply to the customer: apologise or explain what went wrong.",
    ],
)
def test_no_choice_is_read_into_other_words(prompt: str) -> None:
    assert all(len(said.split()) > 1 for said in answers("You help.", prompt))
