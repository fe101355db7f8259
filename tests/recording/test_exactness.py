"""ART trains on what the engine saw and sampled, token for token (G6): its own code on
what the recorder recorded, with a real tokenizer and templates of two families.
"""

from __future__ import annotations

import importlib.util
import json
import sys
import warnings
from typing import Any

import openai
import pytest
from rendering_engine import END, TEMPLATES, RenderingEngine, tokenizer

from art_adapt import recording as art_recording
from art_adapt.hooks import recorded
from art_adapt.recording import for_training
from art_adapt.recording.state import said

NEW_ART = sys.version_info >= (3, 12)
HAS_TORCH = importlib.util.find_spec("torch") is not None
TOOLS: list[Any] = [
    {
        "function": {
            "parameters": {
                "type": "object",
                "properties": {"city": {"type": "string", "description": "A città."}},
            },
            "strict": True,
            "name": "weather",
        },
        "type": "function",
    }
]
CALL = {"name": "weather", "arguments": {"city": "Zürich"}}
LOOP = [
    {"tool_calls": [CALL]},
    {"content": "", "tool_calls": [CALL]},
    {"content": "It rains: brïng a coat."},
]
START = [
    {"role": "system", "content": "You know the weather."},
    {"role": "user", "content": [{"type": "text", "text": "Zürich?"}]},
]

Sequence = tuple[list[int], list[int]]  # token ids, and a mask: 1 where trained


def episode(
    engine: RenderingEngine, *, tools: Any = TOOLS, form: str = "object"
) -> Any:
    """A tool loop of as many turns as the engine has replies; returns the trajectory."""
    import art

    client = openai.OpenAI(base_url="http://127.0.0.1:1/v1", api_key="k")
    messages: list[Any] = list(START)
    trajectory = art.Trajectory()
    with art_recording.rollout(
        trajectory, base_url=engine.base_url, api_key="k", model="policy"
    ):
        for _ in engine.script.replies:
            given = {"tools": tools} if tools else {}
            message = (
                recorded(client.chat.completions.create)(
                    model="m", messages=messages, **given
                )
                .choices[0]
                .message
            )
            messages.append(message if form == "object" else as_dict(message))
            messages += [
                {"role": "tool", "tool_call_id": call.id, "content": "regen: 12 °C"}
                for call in message.tool_calls or []
            ] or [{"role": "user", "content": "And tomorrow?"}]
    return trajectory


def as_dict(message: Any) -> dict[str, Any]:
    """The message as an agent spells it that writes arguments anew."""
    written = message.model_dump(exclude_none=True)
    for call in written.get("tool_calls", []):
        arguments = json.loads(call["function"]["arguments"])
        call["function"]["arguments"] = json.dumps(arguments, separators=(",", ":"))
    return written


def joined(engine: RenderingEngine) -> list[Sequence]:
    """What there is to train: prompts that go on from what was said before make one
    sequence. Written anew here, as the oracle.
    """
    made: list[Sequence] = []
    for prompt, ids in engine.sequences:
        if made and prompt[: len(made[-1][0])] == made[-1][0]:
            tokens, mask = made.pop()
        else:
            tokens, mask = [], []
        mask = mask + [0] * (len(prompt) - len(tokens)) + [1] * len(ids)
        made.append((prompt + ids, mask))
    return made


def trained(trajectory: Any, family: str) -> list[Sequence]:
    """What ART makes of the trajectory on its way to the trainer."""
    import art

    (group,) = for_training([art.TrajectoryGroup([trajectory])])
    (view,) = group.trajectories
    histories = [view, *view.additional_histories]
    if NEW_ART:
        return assembled(histories)
    from art.preprocessing.tokenize import tokenize_trajectory
    from art.trajectories import History
    from transformers import PreTrainedTokenizerFast

    fast = PreTrainedTokenizerFast(
        tokenizer_object=tokenizer(), eos_token=END[family], pad_token="<|reserved|>"
    )
    fast.chat_template = TEMPLATES[family]
    made: list[Sequence] = []
    for history in histories:
        result = tokenize_trajectory(
            fast,
            None,
            History.model_construct(
                messages_and_choices=history.messages_and_choices, tools=history.tools
            ),
            1.0,
            False,
            view,
            chat_template_tool_schema_format="vllm_openai",
        )
        assert result is not None
        made.append((list(result.token_ids), list(result.assistant_mask)))
    return made


def assembled(histories: Any) -> list[Sequence]:
    """ART 0.5.23 reads a Choice's tokens with this function, and joins them in
    ``assemble_vllm_training_sequences``, which needs torch.
    """
    from art.preprocessing.vllm_tokens import choice_vllm_token_metadata

    if HAS_TORCH:
        from art.preprocessing.tokenize import assemble_vllm_training_sequences

        results = assemble_vllm_training_sequences(
            tokenizer=None,  # type: ignore[arg-type]
            histories=histories,
            advantage=1.0,
            allow_training_without_logprobs=False,
            trajectory=None,  # type: ignore[arg-type]
        )
        return [(list(r.token_ids), list(r.assistant_mask)) for r in results]
    engine = RenderingEngine("qwen", [])
    engine.sequences = [
        (list(metadata[0]), list(metadata[1]))
        for history in histories
        for item in history.messages_and_choices
        if not isinstance(item, dict)
        if (metadata := choice_vllm_token_metadata(item)) is not None
    ]
    return joined(engine)


needs_tokenization = pytest.mark.skipif(
    not NEW_ART and not HAS_TORCH, reason="ART 0.5.18 tokenizes with torch"
)


@needs_tokenization
@pytest.mark.parametrize("family", TEMPLATES)
@pytest.mark.parametrize("form", ["object", "spelled anew"])
def test_a_tool_loop_trains_on_what_the_engine_saw(family: str, form: str) -> None:
    with RenderingEngine(family, LOOP) as engine, warnings.catch_warnings():
        warnings.simplefilter("error", art_recording.RecordingWarning)
        said.clear()
        trajectory = episode(engine, form=form)
    expected = joined(engine)
    assert len(expected) == 1
    assert trained(trajectory, family) == expected


@needs_tokenization
@pytest.mark.parametrize("family", TEMPLATES)
def test_a_conversation_without_tools(family: str) -> None:
    with RenderingEngine(family, [{"content": "Yes."}, {"content": "No."}]) as engine:
        trajectory = episode(engine, tools=None)
    assert trained(trajectory, family) == joined(engine)


@needs_tokenization
def test_a_turn_that_the_engine_renders_anew_starts_another_sequence() -> None:
    """The model wrote its call with other spaces than the template does."""
    sampled = (
        '<tool_call>\n{"name":"weather","arguments":{"city":"Zürich"}}\n</tool_call>'
    )
    with RenderingEngine(
        "qwen", [{**LOOP[0], "sampled": sampled}, *LOOP[1:]]
    ) as engine:
        said.clear()
        with pytest.warns(art_recording.RecordingWarning, match="rendered"):
            trajectory = episode(engine)
    assert not trajectory.additional_histories
    assert len(joined(engine)) == 2
    assert trained(trajectory, "qwen") == joined(engine)


@needs_tokenization
def test_a_second_rollout_block_on_the_same_trajectory() -> None:
    """Its prompts were not kept with ART 0.5.18: whether they go on is not known."""
    import art

    client = openai.OpenAI(base_url="http://127.0.0.1:1/v1", api_key="k")
    trajectory = art.Trajectory()
    messages: list[Any] = list(START)
    with RenderingEngine("qwen", LOOP) as engine:
        for _ in LOOP:
            with art_recording.rollout(
                trajectory, base_url=engine.base_url, api_key="k", model="policy"
            ):
                create: Any = recorded(client.chat.completions.create)
                message = (
                    create(model="m", messages=messages, tools=TOOLS).choices[0].message
                )
            messages.append(message)
            for call in message.tool_calls or []:
                output = {"role": "tool", "tool_call_id": call.id, "content": "rain"}
                messages.append(output)
    ends = [prompt + ids for prompt, ids in engine.sequences]
    for tokens, mask in trained(trajectory, "qwen"):
        assert tokens in ends and sum(mask) > 0


def test_the_trajectory_itself_stays_as_it_was() -> None:
    """The view is for the trainer; logs and judges see the calls."""
    import art

    with RenderingEngine("qwen", LOOP) as engine:
        trajectory = episode(engine)
    before = trajectory.model_dump_json()
    for_training([art.TrajectoryGroup([trajectory])])
    assert trajectory.model_dump_json() == before
    calls = [
        item.message.tool_calls
        for item in trajectory.messages_and_choices
        if not isinstance(item, dict)
    ]
    assert [len(c or []) for c in calls] == [1, 1, 0]


def test_the_engine_gets_tools_that_art_renders_alike() -> None:
    with RenderingEngine("qwen", LOOP[2:]) as engine:
        episode(engine)
    (tool,) = engine.log[0].request["tools"]
    assert list(tool) == ["type", "function"]
    assert list(tool["function"]) == ["name", "description", "parameters", "strict"]
