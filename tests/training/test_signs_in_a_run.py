"""A run whose engine leaves tool calls in the text stops, and says what else is odd."""

from __future__ import annotations

from typing import Any

import art
import pytest
from openai.types.chat.chat_completion import Choice

from art_adapt import training
from art_adapt.training.reports import report

ASKED = {"role": "user", "content": "How is Rome?"}
TOOLS: Any = [{"type": "function", "function": {"name": "look", "parameters": {}}}]
CALL = '<tool_call>{"name": "look", "arguments": {}}</tool_call>'


def group(*contents: str, tools: Any = TOOLS, first: Any = ASKED) -> Any:
    def said(content: str) -> Choice:
        message = {"role": "assistant", "content": content}
        return Choice.model_validate(
            {"index": 0, "finish_reason": "stop", "message": message}
        )

    return art.TrajectoryGroup(
        art.Trajectory(
            messages_and_choices=[first, said(content)], tools=tools, reward=at
        )
        for at, content in enumerate(contents)
    )


def test_a_run_stops_where_no_parser_reads_the_calls() -> None:
    with pytest.raises(
        SystemExit, match="2 of 3 completions contain a tool call as text"
    ):
        training.usable([group(CALL, CALL, "Sunny.")])


def test_a_run_goes_on_where_calls_as_text_are_few_or_wanted() -> None:
    explained = {"role": "system", "content": "Write <tool_call>{...}</tool_call>."}
    for each in (
        group(CALL, "Sunny.", "Mild."),
        group(CALL, CALL, tools=None),
        group(CALL, CALL, first=explained),
    ):
        assert training.usable([each]) == [each]


def test_thinking_and_lonely_replies_are_told(
    capsys: pytest.CaptureFixture[str],
) -> None:
    reply = {"role": "tool", "tool_call_id": "1", "content": "sunny"}
    report([group("<think>Rome?</think>Sunny.", "Mild.", first=reply)])
    said = capsys.readouterr().out
    assert "1 completions contain their thinking" in said
    assert "2 of 2 histories contain a tool message without the call" in said
