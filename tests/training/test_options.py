"""MODEL and TRAIN are ART's own options: what the installed ART does not take is said first."""

from __future__ import annotations

from typing import Any

import art
import pytest
from art.dev import validate_dedicated_config

from art_adapt import training
from art_adapt.training.options import (
    HAS_LORA_CONFIG,
    TRAINERS,
    keywords_of,
    wrong_form,
    wrong_options,
)


def said(model: Any = (), train: Any = (), backend: str = "local") -> str:
    settings = {"MODEL": model or {}, "TRAIN": train or {}}
    if backend == "pipeline":
        settings, backend = settings | {"WORKERS": 16}, "local"
    return "\n".join(wrong_options(settings, backend))


@pytest.mark.parametrize("backend", TRAINERS)
def test_what_art_takes_is_taken(backend: str) -> None:
    model = {
        "entity": "team",
        "lora_config": {"rank": 32, "alpha": 64, "target_modules": ["q_proj"]},
        # ART's list of vLLM's options is shorter than vLLM's.
        "engine_args": {"max_model_len": 8192, "async_scheduling": True},
        "server_args": {"reasoning_parser": "qwen3", "enable_log_deltas": True},
        "init_args": {"load_in_4bit": False},
        "trainer_args": {"max_grad_norm": 0.2},
        "chat_template_kwargs": {"enable_thinking": False},
        "trainer_gpu_ids": [0],
        "inference_gpu_ids": [1],
    }
    assert said(model, {"learning_rate": 1e-5}, backend) == ""
    training.make_model("run", "project", "a/model", model)
    assert said({"peft_args": {"r": 16, "lora_alpha": 8}}) == ""  # as 0.5.18 calls them


@pytest.mark.parametrize(
    ("model", "part"),
    [
        ({"engine_args": {"gpu_memory_utilisation": 0.8}}, "mean 'gpu_memory_utiliza"),
        ({"gpu_memory_utilization": 0.8}, "put it under 'engine_args'"),
        ({"lora_config": {"rnak": 16}}, "MODEL['lora_config']['rnak']"),
        ({"lora_config": {"rank": "16"}}, "should be a valid integer"),
        ({"lora_config": 16}, "it must be a dict"),
        ({"base_model": "a/model"}, "set BASE_MODEL instead"),
        ({"run_name": "a"}, "set RUN_NAME instead"),
        ({"trainer_gpu_ids": "0"}, "should be a valid list"),
        ({"nothing": 1}, "it takes "),
        ({"trainer_gpu_ids": [0]}, "must both be set or both unset"),
        (
            {"trainer_gpu_ids": [0], "inference_gpu_ids": [0]},
            "must not overlap",
        ),
        ([1], "MODEL = [1]: it must be a dict"),
    ],
)
def test_what_art_does_not_take_of_model(model: Any, part: str) -> None:
    assert part in said(model)
    if "gpu_ids" not in str(model) and isinstance(model, dict):
        with pytest.raises(SystemExit):
            training.make_model("run", "project", "a/model", model)


@pytest.mark.parametrize(
    ("backend", "train", "part"),
    [
        ("local", {"learning_rat": 1e-5}, "did you mean 'learning_rate'?"),
        ("local", {"learning_rate": "1e-5"}, "should be a valid number"),
        ("local", {"loss_fn": "dpo"}, "should be 'cispo' or 'ppo'"),
        ("local", {"ppo": True}, "see art/local/backend.py for the list"),
        ("local", {"adam_params": {}}, "does not support it"),
        ("local", {"packed_sequence_length": 5000}, "must be a multiple of"),
        ("local", {"max_steps": 9}, "set MAX_STEPS instead"),
        ("tinker", {"epsilon": 0.2}, "it takes adam_params"),
        ("pipeline", {"max_steps": 9}, "set MAX_STEPS instead"),
        ("pipeline", {"min_batch_size": 9}, "set GROUPS_PER_STEP instead"),
        ("pipeline", {"epsilon": 0.2}, "has no such option"),
        ("pipeline", {}, "it needs trainer_gpu_ids and inference_gpu_ids"),
    ],
)
def test_what_art_does_not_take_of_train(backend: str, train: Any, part: str) -> None:
    assert part in said(train=train, backend=backend)


def test_what_a_shared_gpu_needs() -> None:
    assert "ART needs it" in said({"engine_args": {"enable_sleep_mode": False}})


def test_what_would_hang_or_have_no_effect() -> None:
    accumulates = {"trainer_args": {"gradient_accumulation_steps": 4}}
    assert "the first step never ends" in said(accumulates)
    assert not said({"trainer_args": {"gradient_accumulation_steps": 1}})
    if "grad_accumulation_sequences" in keywords_of(*TRAINERS["local"]):
        assert "never ends" in said(train={"grad_accumulation_sequences": 4})
        power = {"num_trajectories_learning_rate_multiplier_power": 0.5}
        assert "makes the learning rate 0" in said(train=power)
    assert "has no effect" in said({"trainer_args": {"weight_decay": 0.0}})
    scales = {"scale_learning_rate_by_reward_std_dev": True}
    assert "does not read it" in said(train=scales)
    if scales.keys() <= keywords_of(*TRAINERS["serverless"]).keys():
        assert not said(train=scales, backend="serverless")


def test_keywords_are_those_of_the_installed_art() -> None:
    """The source is parsed because it needs torch to be imported; here torch is."""
    pytest.importorskip("torch")
    import inspect

    from art.local.backend import LocalBackend

    parameters = inspect.signature(LocalBackend.train).parameters.values()
    names = {p.name for p in parameters if p.kind is p.KEYWORD_ONLY}
    assert keywords_of(*TRAINERS["local"]).keys() == names


def test_lora_has_the_names_of_the_installed_art() -> None:
    for given in (
        {"peft_args": {"r": 64, "lora_alpha": 8, "target_modules": ["q_proj"]}},
        {"lora_config": {"rank": 64, "alpha": 8, "target_modules": ["q_proj"]}},
    ):
        made: Any = training.make_model("run", "project", "base", given)
        internal = made._internal_config
        told = made.lora_config if HAS_LORA_CONFIG else internal["peft_args"]
        assert told["rank" if HAS_LORA_CONFIG else "r"] == 64
        assert ("peft_args" in internal) != HAS_LORA_CONFIG
        # ART does not tell vLLM, which serves ranks up to 16.
        assert internal["engine_args"]["max_lora_rank"] == 64


def test_a_model_is_made_with_its_options() -> None:
    made: Any = training.make_model(
        "run",
        "project",
        "a/model",
        {
            "entity": "team",
            "trainer_gpu_ids": [0],
            "inference_gpu_ids": [1],
            "server_args": {"reasoning_parser": "qwen3"},
        },
    )
    assert isinstance(made, art.TrainableModel) and made.entity == "team"
    assert "server_args" not in made._internal_config
    validate_dedicated_config(made._internal_config)
    settings = training.server_settings(
        "a/model", {"server_args": {"reasoning_parser": "qwen3"}}
    )
    assert settings == {"server_args": {"reasoning_parser": "qwen3"}}


def test_constants_of_an_older_module_are_named() -> None:
    assert "MODEL['engine_args']" in "\n".join(wrong_form({"ENGINE": {}}))
    assert not list(wrong_form({"ENGINE": 1, "MODEL": {}}))  # the user's own
