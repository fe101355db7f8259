"""Run one episode of an unchanged agent inside ART's own capture, and print the result.

With art 0.5.18 that is ``await art.capture_auto_trajectory(coroutine)``. With art 0.5.23 it
is ``with art.Trajectory() as trajectory``, which keeps its exchanges after an error, unlike
``art.trajectory(coroutine)``. The result is one line of JSON with histories in the form of
``episode_child.py``, so that the same comparison reads both.
"""

from __future__ import annotations

import asyncio
import contextlib
import inspect
import io
import json
import re
import zlib
from typing import Any

import art


async def run_agent() -> None:
    from episode import episode

    with contextlib.redirect_stdout(io.StringIO()):
        value = episode()
        if inspect.iscoroutine(value):
            await value


def history(tools: Any, items: list[Any]) -> dict[str, Any]:
    return {"tools": tools, "items": items}


async def captured_by_patching_httpx() -> dict[str, Any]:
    """Capture with art 0.5.18: messages and Choices for each history that it found."""
    trajectory = await art.capture_auto_trajectory(run_agent())
    return histories_of(trajectory)


def histories_of(trajectory: Any) -> dict[str, Any]:
    """Return what a trajectory holds as messages and Choices."""
    histories = [
        history(
            found.tools,
            [
                item
                if isinstance(item, dict)
                else {"choice": item.model_dump(mode="json")}
                for item in found.messages_and_choices
            ],
        )
        for found in (trajectory, *trajectory.additional_histories)
        if found.messages_and_choices
    ]
    return {"histories": histories, "sequences": len(histories), "tokens": None}


async def captured_exchanges() -> dict[str, Any]:
    """Capture with art 0.5.23: exchanges, and what ART makes of the policy's.

    That is counted in ``sequences`` and ``tokens``.
    """
    import episode

    with art.Trajectory() as trajectory, contextlib.suppress(Exception):
        await run_agent()
    chats = trajectory.exchanges.chat_completions
    said: dict[str, Any] = {
        "histories": [
            history(
                exchange.request.get("tools"),
                [
                    *exchange.request["messages"],
                    {"choice": _choice(choice, exchange.response)},
                ],
            )
            for exchange in chats
            for choice in exchange.response.choices
        ],
        "others": len(trajectory.exchanges.responses)
        + len(trajectory.exchanges.messages),
    }
    others = getattr(episode, "AUXILIARY_MODEL", ())
    trained = trajectory.model_copy(exclude_models=others)
    if not trained.exchanges:
        return {**said, "sequences": 0, "tokens": 0}
    try:
        found = trained.tokenize(
            multi_history=True, base_model="words", tokenizer=WordTokenizer()
        ).histories
        masks = art.trajectories.first_occurrence_masks(
            found, where=art.trajectories.TokenFlag.SAMPLED
        )
    except Exception as error:
        return {**said, "sequences": 0, "tokens": 0, "error": _short(error)}
    return {**said, "sequences": len(found), "tokens": sum(map(sum, masks))}


class WordTokenizer:
    """A tokenizer of words, for ART.

    The engine has returned every token that can be trained on; ART tokenizes the others only
    to find out whose they are.
    """

    def __call__(self, text: str, **_: Any) -> dict[str, list[int]]:
        words = re.findall(r"\s*\S+", text)
        return {"input_ids": [zlib.crc32(word.encode()) % 50_000 for word in words]}

    def apply_chat_template(
        self, messages: Any, tokenize: bool = True, **_: Any
    ) -> str | list[int]:
        text = "\n".join(json.dumps(message) for message in messages)
        return self(text)["input_ids"] if tokenize else text


def _choice(choice: Any, response: Any) -> dict[str, Any]:
    said: dict[str, Any] = choice.model_dump(mode="json")
    extra = response.model_extra or {}
    said.setdefault("prompt_token_ids", extra.get("prompt_token_ids"))
    return said


def _short(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}"


def main() -> None:
    capture = (
        captured_by_patching_httpx()
        if hasattr(art, "capture_auto_trajectory")
        else captured_exchanges()
    )
    try:
        said = asyncio.run(capture)
    except Exception as error:
        said = {
            "histories": [],
            "sequences": 0,
            "tokens": 0,
            "error": _short(error),
        }
    print(json.dumps(said))


if __name__ == "__main__":
    main()
