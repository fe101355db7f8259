"""What the doctor says of a base model, it read somewhere, and says where."""

from __future__ import annotations

import json
import os
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from art_adapt import training
from art_adapt.doctor import Finding, Setup, State
from art_adapt.doctor.checks import (
    base_model,
    context,
    gpu,
    machine,
    network,
    parser,
)
from art_adapt.training.base_models import context_of, parser_of
from art_adapt.training.models import server_settings, tool_parser

XML = "{% for call in calls %}<tool_call><function={{ call.name }}>{% endfor %}"
JSON = '<tool_call>{"name": {{ name }}}</tool_call>'


def looked_at(check: Any, model: str, **settings: Any) -> dict[str, Finding]:
    constants = {"BASE_MODEL": model, "BACKEND": "local", **settings}
    setup = Setup(Path("agent_train.py"), ModuleType("agent_train"), constants)
    return {found.subject: found for found in check.check(setup)}


@pytest.fixture
def model(tmp_path: Path) -> Path:
    """A base model that lies in a folder of its own, whose name says nothing."""
    folder = tmp_path / "mine"
    folder.mkdir()
    return folder


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("Qwen/Qwen3.5-4B", "qwen3_xml"),
        ("Qwen/Qwen3.6-27B", "qwen3_xml"),
        ("openai/gpt-oss-20b", "openai"),
        ("Qwen/Qwen3-Coder-30B-A3B-Instruct", "qwen3_coder"),
        ("Qwen/Qwen2.5-7B-Instruct", None),  # ART's default is right
        ("OpenPipe/Qwen3-14B-Instruct", None),
        ("somebody/model", None),  # not known
    ],
)
def test_parsers_by_name(name: str, expected: str | None) -> None:
    assert tool_parser(name) == expected
    settings = server_settings(name)
    assert (settings or {"server_args": {}})["server_args"].get(
        "tool_call_parser"
    ) == expected


@pytest.mark.parametrize(
    ("file", "content", "expected"),
    [
        ("chat_template.jinja", XML, "qwen3_xml"),
        ("tokenizer_config.json", json.dumps({"chat_template": JSON}), "hermes"),
        (
            "tokenizer_config.json",
            json.dumps({"chat_template": [{"name": "tool_use", "template": XML}]}),
            "qwen3_xml",
        ),
    ],
)
def test_a_template_says_the_parser(
    model: Path, file: str, content: str, expected: str
) -> None:
    (model / file).write_text(content)
    known = parser_of(str(model))
    assert known is not None and known.value == expected and file in known.source
    assert file in looked_at(parser, str(model))["parser"].what


def test_what_is_not_known_is_said() -> None:
    assert looked_at(parser, "somebody/model")["parser"].state is State.NOTE
    assert "unknown whether" in looked_at(context, "somebody/model")["context"].what


def test_a_thinking_model_is_told(model: Path) -> None:
    (model / "chat_template.jinja").write_text("{% if t %}<think></think>{% endif %}")
    assert "reasoning_parser" in looked_at(parser, str(model))["thinking"].remedy


@pytest.mark.parametrize(
    "config",
    [
        {"max_position_embeddings": 16_384},
        {"text_config": {"max_position_embeddings": 16_384}},
    ],
)
def test_a_short_context_is_not_exceeded(model: Path, config: dict[str, Any]) -> None:
    (model / "config.json").write_text(json.dumps(config))
    known = context_of(str(model))
    assert known is not None and known.value == 16_384
    made = training.make_model("run", "project", str(model))
    engine: Any = made._internal_config
    assert engine["engine_args"]["max_model_len"] == 16_384
    assert looked_at(context, str(model))["context"].state is State.OK
    longer = looked_at(
        context, str(model), MODEL={"engine_args": {"max_model_len": 32_768}}
    )
    assert longer["context"].state is State.FAILED


@pytest.mark.parametrize("name", ["HTTPS_PROXY", "http_proxy"])
def test_a_proxy_that_takes_the_engines_requests(
    monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    for each in (*network.PROXIES, "NO_PROXY"):
        monkeypatch.delenv(each, raising=False)
        monkeypatch.delenv(each.lower(), raising=False)
    assert "proxy" not in looked_at(network, "somebody/model")
    monkeypatch.setenv(name, "http://proxy:3128")
    assert looked_at(network, "somebody/model")["proxy"].state is State.FAILED
    monkeypatch.setenv("NO_PROXY", "example.com,127.0.0.1")
    assert "proxy" not in looked_at(network, "somebody/model")


def test_a_gated_model_without_a_token(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("HF_HOME", str(tmp_path))
    monkeypatch.delenv("HF_TOKEN", raising=False)
    assert "gated" in looked_at(network, "meta-llama/Llama-3.1-8B-Instruct")
    monkeypatch.setenv("HF_TOKEN", "hf_x")
    assert "gated" not in looked_at(network, "meta-llama/Llama-3.1-8B-Instruct")


@pytest.mark.parametrize(
    ("visible", "state"),
    [(None, State.OK), ("0", State.OK), ("", State.FAILED), ("GPU-8f2", State.OK)],
)
def test_gpus_that_a_process_may_use(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    visible: str | None,
    state: State,
) -> None:
    tool = tmp_path / "nvidia-smi"
    tool.write_text("#!/bin/sh\necho 81559\n")
    tool.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    if visible is not None:
        monkeypatch.setenv("CUDA_VISIBLE_DEVICES", visible)
    found = looked_at(gpu, "OpenPipe/Qwen3-14B-Instruct")
    assert found.get("GPU", found["memory"]).state is state


def test_weights_that_the_host_cannot_hold() -> None:
    assert looked_at(machine, "somebody/model-9000B")["RAM"].state is State.NOTE
    assert "RAM" not in looked_at(machine, "Qwen/Qwen3-0.6B")
    assert "RAM" not in looked_at(
        machine,
        "somebody/model-9000B",
        MODEL={"trainer_gpu_ids": [0], "inference_gpu_ids": [1]},
    )


def test_what_installs_the_engine_is_looked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(network.metadata, "version", lambda _: "0.5.23")
    monkeypatch.setenv("PATH", str(tmp_path))
    # The disk of the machine that runs the tests has no part in this.
    monkeypatch.setattr(network, "RUNTIME_SIZE", 0)
    assert looked_at(network, "a/model")["runtime"].state is State.FAILED
    (tmp_path / "uv").write_text("#!/bin/sh\n")
    (tmp_path / "uv").chmod(0o755)
    assert looked_at(network, "a/model")["runtime"].state is State.OK
    monkeypatch.setattr(network, "_runtime_cache", lambda: tmp_path / "art" / "runtime")
    monkeypatch.setattr(network, "RUNTIME_SIZE", 10**9)
    full = looked_at(network, "a/model")["runtime"]
    assert full.state is State.FAILED and f"{tmp_path} has" in full.what
    (tmp_path / "art" / "runtime" / "1" / ".venv").mkdir(parents=True)
    assert looked_at(network, "a/model")["runtime"].state is State.OK
    monkeypatch.setattr(network.metadata, "version", lambda _: "0.5.18")
    assert "runtime" not in looked_at(network, "a/model")


QWEN3_14B = {
    "num_hidden_layers": 40,
    "num_attention_heads": 40,
    "num_key_value_heads": 8,
    "head_dim": 128,
    "hidden_size": 5120,
}


@pytest.mark.parametrize(
    ("config", "said"),
    [
        (QWEN3_14B, "28 GB of weights and 5.4 GB of KV cache for one context of"),
        ({"text_config": QWEN3_14B}, "28 GB of weights and 5.4 GB of KV cache"),
        (QWEN3_14B | {"dtype": "float32"}, "14 GB of weights and 5.4 GB"),
        (QWEN3_14B | {"layer_types": ["full", "linear"]}, "28 GB of weights, at least"),
        (QWEN3_14B | {"kv_lora_rank": 512}, "28 GB of weights, at least"),
        ({}, "28 GB of weights, at least"),
    ],
)
def test_memory_by_the_files_of_a_model(
    config: dict[str, Any], said: str, model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A folder's name tells no size; its files do, and are not loaded for it."""
    (model / "config.json").write_text(json.dumps(config))
    for part in "ab":
        with (model / f"{part}.safetensors").open("wb") as file:
            file.truncate(14_000_000_000)
    monkeypatch.setenv("PATH", "")
    assert said in looked_at(gpu, str(model))["memory"].what


def test_memory_by_the_index_of_a_model(model: Path) -> None:
    index = {"metadata": {"total_size": 61_000_000_000}, "weight_map": {}}
    (model / "model.safetensors.index.json").write_text(json.dumps(index))
    assert "61 GB of weights" in looked_at(gpu, str(model))["memory"].what


@pytest.mark.parametrize(
    ("name", "closed"),
    [
        ("gpt-4o", True),
        ("openai/gpt-4.1-mini", True),
        ("o3", True),
        ("claude-sonnet-4-5", True),
        ("gemini/gemini-2.5-pro", True),
        ("openai/gpt-oss-20b", False),
        ("marco/o1-7b", False),
        ("google/gemma-3-4b-it", False),
        ("OpenPipe/Qwen3-14B-Instruct", False),
    ],
)
@pytest.mark.parametrize("backend", ["local", "serverless"])
def test_a_model_that_only_its_maker_has_cannot_be_trained(
    name: str, closed: bool, backend: str
) -> None:
    found = looked_at(base_model, name, BACKEND=backend).get("base model")
    assert (found is not None and found.state is State.FAILED) == closed
