"""One growing conversation, as an agent with a tool holds it, and the ways to hold it:
bare, through the hook, recorded in a rollout, and captured by ART itself.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from typing import Any

import art
from completion_server import CALL, TEXT
from openai import OpenAI
from openai.types.chat.chat_completion import Choice

from art_adapt.hooks import recorded
from art_adapt.recording import rollout

Json = dict[str, Any]
Call = Callable[..., Any]

RESULT = "The parcel left the warehouse on Monday and was last seen in Leipzig. " * 4
TOOLS = [
    {
        "type": "function",
        "function": {
            "name": "look_up",
            "description": "Look an order up.",
            "parameters": {
                "type": "object",
                "properties": {"order": {"type": "string"}},
                "required": ["order"],
            },
        },
    }
]
REQUEST: Json = {"model": "policy", "tools": TOOLS, "temperature": 0.7}
# What the recorder asks for by itself, and ART's capture leaves to the agent.
IDS: Json = {"logprobs": True, "extra_body": {"return_token_ids": True}}


def opening() -> list[Json]:
    return [
        {"role": "system", "content": "You help customers. " * 15},
        {"role": "user", "content": "Where is my order A-1041? " * 12},
    ]


def conversation(turns: int) -> list[Json]:
    """What an agent holds after so many turns, each message an object of its own."""
    messages = opening()
    for number in range(turns):
        assistant = {"role": "assistant", "content": TEXT, "tool_calls": [CALL]}
        messages += [assistant, _result(number)]
    copy: list[Json] = json.loads(json.dumps(messages))
    return copy


def go_on(messages: list[Json], completion: Any) -> None:
    """Add the model's message and the tool's result, as most agents spell them."""
    message = completion.choices[0].message
    calls = [call.model_dump() for call in message.tool_calls]
    spelled = {"role": "assistant", "content": message.content, "tool_calls": calls}
    messages += [spelled, _result(len(messages))]


def _result(number: int) -> Json:
    content = f"{number:06d} {RESULT}"
    return {"role": "tool", "tool_call_id": CALL["id"], "content": content}


def _items(messages: list[Json]) -> list[Any]:
    """The same as a trajectory has it: the model's messages as Choices."""
    return [
        Choice.model_validate(
            {"index": 0, "finish_reason": "tool_calls", "message": message}
        )
        if message["role"] == "assistant"
        else dict(message)
        for message in messages[:-1]
    ]


# ----------------------------------------------------------------------------- the ways


@dataclass(frozen=True)
class Way:
    """``open`` gives the call to make, as it is after ``past``, and the trajectory that
    it records on; ``ids`` says whether the agent asks for ids itself.
    """

    name: str
    open: Callable[
        [OpenAI, list[Json]], AbstractContextManager[tuple[Call, art.Trajectory | None]]
    ]
    ids: bool = True

    @property
    def arguments(self) -> Json:
        return REQUEST | IDS if self.ids else REQUEST


@contextmanager
def _bare(client: OpenAI, past: list[Json]) -> Iterator[tuple[Call, None]]:
    yield client.chat.completions.create, None


@contextmanager
def hooked(client: OpenAI, past: list[Json]) -> Iterator[tuple[Call, None]]:
    def call(**arguments: Any) -> Any:  # an agent wraps at every call
        return recorded(client.chat.completions.create)(**arguments)

    yield call, None


@contextmanager
def _recorded(
    client: OpenAI, past: list[Json]
) -> Iterator[tuple[Call, art.Trajectory]]:
    trajectory = _trajectory_of(past)
    with (
        rollout(
            trajectory, base_url=str(client.base_url), api_key="sk", model="policy"
        ),
        hooked(client, past) as (call, _),
    ):
        yield call, trajectory


@contextmanager
def _captured(
    client: OpenAI, past: list[Json]
) -> Iterator[tuple[Call, art.Trajectory]]:
    if hasattr(art, "capture_auto_trajectory"):
        from art.auto_trajectory import AutoTrajectoryContext

        # What capture_auto_trajectory opens around its coroutine.
        scope = AutoTrajectoryContext()
        scope.trajectory = _trajectory_of(past)
        with scope as trajectory:
            yield client.chat.completions.create, trajectory
    else:  # 0.5.23 keeps the exchanges as they are: what came before costs nothing
        with art.Trajectory() as trajectory:
            yield client.chat.completions.create, trajectory


def _trajectory_of(past: list[Json]) -> art.Trajectory:
    trajectory = art.Trajectory()
    if len(past) > len(opening()):
        trajectory.messages_and_choices.extend(_items(past))
        object.__setattr__(trajectory, "tools", TOOLS)  # as sent, not as validated
    return trajectory


BARE = Way("bare", _bare)
NO_ROLLOUT = Way("hook, no rollout", hooked)
RECORDED = Way("recorded in a rollout", _recorded)
CAPTURED = Way("ART's own capture", _captured)
BARE_WITHOUT_IDS = Way("bare, no ids asked for", _bare, ids=False)
WAYS = (BARE, NO_ROLLOUT, RECORDED, CAPTURED, BARE_WITHOUT_IDS)


def completions_of(trajectory: art.Trajectory | None) -> int:
    """How many completions a trajectory holds, in whatever form ART keeps them."""
    if trajectory is None:
        return 0
    if exchanges := getattr(trajectory, "exchanges", None):
        return len(exchanges.chat_completions)
    return sum(isinstance(item, Choice) for item in trajectory.messages_and_choices)


def check(trajectory: art.Trajectory | None, calls: int) -> None:
    """A way that lost calls or split the conversation would measure something else."""
    if trajectory is not None:
        found = completions_of(trajectory)
        assert found == calls, f"{found} completions recorded of {calls}"
        assert not trajectory.additional_histories, "the conversation was split"
