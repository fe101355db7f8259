"""Reads what a train module gives ART in MODEL and TRAIN, and says what ART would not take.

An option that ART does not take raises at ``register`` or at the first ``backend.train``:
after the engine has started, or after the first rollouts. Some raise nothing and are lost.
"""

from __future__ import annotations

import ast
import importlib.util
import typing
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any, Literal

import art
import pydantic
import typing_extensions
from art import dev
from art.dev import model as dev_model

Options = Mapping[str, Any]
# Of TrainableModel's constructor (0.5.18 and 0.5.23, model.py); other constants give the rest.
CONSTRUCTOR: Mapping[str, Any] = {
    "entity": str | None,
    "report_metrics": list[str] | None,
}
# ART 0.5.23's names for LoRA's settings, and those of ART 0.5.18 (dev/model.py, LoRAConfig
# and PeftArgs). Each version raises on, or drops, the other's.
LORA = {
    "rank": "r",
    "alpha": "lora_alpha",
    "dropout": "lora_dropout",
    "init_weights": "init_lora_weights",
}
NEWER = {old: new for new, old in LORA.items()}
HAS_LORA_CONFIG = "lora_config" in art.TrainableModel.model_fields
# What vLLM takes is vLLM's to say: ART's lists of these are of some release.
OF_VLLM = ("engine_args", "server_args")
# Where the train methods are: read, not imported, because art.local needs torch.
TRAINERS = {
    "local": ("art.local.backend", "LocalBackend", "train"),
    "serverless": ("art.serverless.backend", "ServerlessBackend", "train"),
    "tinker": ("art.tinker_native.backend", "TinkerNativeBackend", "train"),
    "pipeline": ("art.pipeline_trainer.trainer", "PipelineTrainer", "__init__"),
}
# LocalBackend and ServerlessBackend declare these and refuse every value (0.5.18 and
# 0.5.23, local/backend.py and serverless/backend.py, train).
REFUSED = ("adam_params", "loss_fn_config")
# What ART's local backend takes and does not use (0.5.18 and 0.5.23: unsloth/train.py,
# compute_loss and run_unsloth_rl_training; nothing reads the scale of the learning rate).
UNUSED = {
    "learning_rate": "every step sets TRAIN['learning_rate']: set that instead",
    "weight_decay": "every step sets 0.1: remove it",
    "per_device_train_batch_size": "a step takes one sequence at a time: remove it",
}
MOST_NAMED = 20  # options in a message
# Constants that the modules of art-adapt 0.2 have instead of MODEL and TRAIN.
OLDER = {
    "ENGINE": "move its keys into MODEL['engine_args']",
    "GPUS": "move its keys into MODEL",
    "LEARNING_RATE": "set TRAIN['learning_rate'] instead",
}
PASSED = "the training loop passes it"
# What a train module says elsewhere, and how to change it.
ELSEWHERE = {
    "name": "set RUN_NAME instead",
    "run_name": "set RUN_NAME instead",
    "project": "set PROJECT instead",
    "base_model": "set BASE_MODEL instead",
    "base_path": "art-adapt always uses .art",
    "model": PASSED,
    "trajectory_groups": PASSED,
    "max_steps": "set MAX_STEPS instead",
    "eval_every_n_steps": "set VALIDATION_SHARE instead",
    "eval_at_start": PASSED,
    "checkpoint_retention_strategy": PASSED,
    "pipeline": "set WORKERS and GROUPS_PER_STEP instead",
    "autotune": "set WORKERS and GROUPS_PER_STEP instead",
    "num_rollout_workers": "set WORKERS instead",
    "queue_maxsize": "set WORKERS instead",
    "min_batch_size": "set GROUPS_PER_STEP instead",
    "max_batch_size": "set GROUPS_PER_STEP instead",
}


@dataclass(frozen=True)
class ModelOptions:
    """MODEL, as the installed ART takes it.

    Attributes:
        constructor: keywords of ``art.TrainableModel``.
        internal: keys of its ``_internal_config``.
        server: arguments of vLLM's server, for ``model.register``.
    """

    constructor: dict[str, Any]
    internal: dict[str, Any]
    server: dict[str, Any]


def model_options(given: Options) -> ModelOptions:
    """Sort MODEL's keys by where the installed ART takes them.

    Raises:
        SystemExit: ART takes no such option, or not such a value.
    """
    refuse(wrong_in_model(given))
    constructor = {key: given[key] for key in CONSTRUCTOR if key in given}
    taken = {*CONSTRUCTOR, "server_args", "lora_config", "peft_args"}
    internal = {key: value for key, value in given.items() if key not in taken}
    if lora := lora_settings(given):
        if HAS_LORA_CONFIG:
            constructor["lora_config"] = lora
        else:
            internal["peft_args"] = {LORA.get(k, k): v for k, v in lora.items()}
    return ModelOptions(constructor, internal, dict(given.get("server_args", {})))


def lora_settings(given: Options) -> dict[str, Any]:
    """Return LoRA's settings under ART 0.5.23's names, whichever were used."""
    settings = {**given.get("peft_args", {}), **given.get("lora_config", {})}
    return {NEWER.get(key, key): value for key, value in settings.items()}


def lora_rank(given: Options) -> int | None:
    """Return the rank of LoRA that MODEL asks for; None: ART's own."""
    rank: int | None = lora_settings(given).get("rank")
    return rank


def refuse(problems: Iterator[str]) -> None:
    """End the program with what is wrong, if anything is.

    Raises:
        SystemExit: there is a problem.
    """
    if said := "\n".join(problems):
        raise SystemExit(said)


def wrong_form(settings: Options) -> Iterator[str]:
    """Say which constants are those of a train module that an older art-adapt has written."""
    for old, new in OLDER.items():
        if old in settings and "MODEL" not in settings:
            yield (
                f"{old} is no longer used: {new}. Or run `art-adapt --force` on the agent, "
                "which overwrites your edits of this module"
            )


def wrong_options(settings: Options, backend: str) -> Iterator[str]:
    """Say what the installed ART would not take of a train module's MODEL and TRAIN.

    Args:
        settings: the module's constants. One with ``WORKERS`` has a PipelineTrainer.
        backend: ``local``, ``serverless`` or ``tinker``.
    """
    trainer = "pipeline" if "WORKERS" in settings else backend
    model = settings.get("MODEL", {})
    if wrong := list(wrong_in_model(model)):
        yield from wrong
        model = None
    else:
        yield from _wrong_gpus(model, trainer)
    yield from wrong_in_train(settings.get("TRAIN", {}), trainer, model)


def _wrong_gpus(given: Options, trainer: str) -> Iterator[str]:
    """Say what ART has against the GPUs that MODEL shares out; its own check is asked."""
    config: Any = given
    try:
        dev.validate_dedicated_config(config)
    except ValueError as error:
        yield f"MODEL: {error}"
    else:
        if trainer == "pipeline" and not dev.is_dedicated_mode(config):
            yield (
                "MODEL: a pipeline samples and trains at once, on separate GPUs: it "
                "needs trainer_gpu_ids and inference_gpu_ids"
            )


def wrong_in_model(given: Options) -> Iterator[str]:
    """Say which of MODEL's options the installed ART would not take, a line each."""
    declared = {
        **CONSTRUCTOR,
        **internal_options(),
        "server_args": dev.ServerArgs,
    }
    if not isinstance(given, Mapping):
        yield f"MODEL = {given!r}: it must be a dict"
        return
    for name in ("lora_config", "peft_args"):
        if not isinstance(given.get(name, {}), Mapping):
            yield f"MODEL[{name!r}] = {given[name]!r}: it must be a dict"
            return
    declared["lora_config"] = _lora_declared()
    asked = {key: value for key, value in given.items() if key != "peft_args"}
    asked["lora_config"] = lora_settings(given)
    yield from _wrong("MODEL", asked, declared, "art/dev/model.py")


def _lora_declared() -> Any:
    """Return the TypedDict of LoRA's settings, under ART 0.5.23's names."""
    of_art: Any = getattr(dev_model, "LoRAConfig" if HAS_LORA_CONFIG else "PeftArgs")
    hints = typing.get_type_hints(of_art).items()
    return _typed_dict({NEWER.get(key, key): kind for key, kind in hints})


def internal_options() -> dict[str, Any]:
    """Return the keys of the installed ART's ``_internal_config``, with their types."""
    return typing.get_type_hints(dev.InternalModelConfig)


def wrong_in_train(
    given: Options, trainer: str, model: Options | None = None
) -> Iterator[str]:
    """Say which of TRAIN's options the installed ART would not take, a line each.

    ``trainer``: one of ``TRAINERS``. ``model``: the module's MODEL, if it is right.
    """
    if not isinstance(given, Mapping):
        yield f"TRAIN = {given!r}: it must be a dict"
        return
    module, class_name, method = TRAINERS[trainer]
    declared = {
        name: kind
        for name, kind in keywords_of(module, class_name, method).items()
        if name not in ELSEWHERE
    }
    yield from _wrong("TRAIN", given, declared, module.replace(".", "/") + ".py")
    for name in REFUSED if trainer in ("local", "serverless") else ():
        if given.get(name) is not None:
            yield f"TRAIN[{name!r}]: ART's {trainer} backend does not support it: remove it"
    if trainer in ("local", "pipeline") and isinstance(model, Mapping):
        yield from _wrong_together(model, given)


def _wrong_together(model: Options, train: Options) -> Iterator[str]:
    """Say what ART's local backend refuses at its first step, or when it starts.

    Art 0.5.23: local/backend.py:1074 (packed sequences), unsloth/service.py:523.
    """
    length = train.get("packed_sequence_length")
    chunk = train.get("logprob_calculation_chunk_size", 1024)
    if isinstance(length, int) and isinstance(chunk, int) and length % max(chunk, 1):
        yield (
            f"TRAIN['packed_sequence_length'] = {length}: it must be a multiple of "
            f"logprob_calculation_chunk_size, {chunk}"
        )
    trainer, engine = model.get("trainer_args", {}), model.get("engine_args", {})
    for name, instead in UNUSED.items():
        if name in trainer:
            yield f"MODEL['trainer_args'][{name!r}] has no effect: {instead}"
    # Transformers logs after that many sequences, and ART waits for what it logs after each
    # (0.5.18 and 0.5.23, unsloth/train.py, run_unsloth_rl_training).
    accumulated = {
        "MODEL['trainer_args']['gradient_accumulation_steps']": trainer.get(
            "gradient_accumulation_steps"
        ),
        "TRAIN['grad_accumulation_sequences']": train.get(
            "grad_accumulation_sequences"
        ),
    }
    for where, wanted in accumulated.items():
        if wanted not in (None, 1):
            yield (
                f"{where} = {wanted}: ART's local backend waits for a result of every "
                f"sequence and gets one of every {wanted}, so that the first step never ends: "
                "remove it"
            )
    yield from _wrong_rates(train)
    if engine.get("enable_sleep_mode") is False and "trainer_gpu_ids" not in model:
        yield (
            "MODEL['engine_args']['enable_sleep_mode'] = False: where the trainer and the "
            "engine share a GPU, ART needs it"
        )


def _wrong_rates(train: Options) -> Iterator[str]:
    """Say which options would not scale the learning rate as they promise.

    Art 0.5.23 gives each sequence a row of its own, and counts no trajectory in it
    (preprocessing/pack.py; unsloth/train.py, compute_loss): the power of 0 is 0.
    """
    power = "num_trajectories_learning_rate_multiplier_power"
    if train.get(power) and HAS_LORA_CONFIG:
        yield f"TRAIN[{power!r}]: it makes the learning rate 0 on ART's local backend: remove it"
    scales = "scale_learning_rate_by_reward_std_dev"
    if train.get(scales):
        yield f"TRAIN[{scales!r}] has no effect: ART's local backend does not read it"


@cache
def keywords_of(module: str, class_name: str, method: str) -> Mapping[str, Any]:
    """Return the keyword-only parameters of a method of the installed ART, with their types.

    The module is parsed, not imported. A type that ``typing`` alone cannot name is Any.
    """
    package, _, rest = module.partition(".")
    root = importlib.util.find_spec(package)
    assert root is not None and root.submodule_search_locations
    file = Path(root.submodule_search_locations[0], *rest.split(".")).with_suffix(".py")
    tree = ast.parse(file.read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef) and node.name == class_name:
            for each in node.body:
                if (
                    isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef)
                    and each.name == method
                ):
                    return {a.arg: _type(a.annotation) for a in each.args.kwonlyargs}
    return {}


def _type(annotation: ast.expr | None) -> Any:
    if annotation is None:
        return Any
    try:
        return eval(ast.unparse(annotation), {"Literal": Literal, "Any": Any})
    except (NameError, TypeError):
        return Any


def _wrong(
    name: str, given: Options, declared: Mapping[str, Any], source: str
) -> Iterator[str]:
    try:
        pydantic.TypeAdapter(_typed_dict(declared)).validate_python(dict(given))
    except pydantic.ValidationError as error:
        for each in error.errors():
            if (said := _said(name, each, declared, source)) is not None:
                yield said


def _typed_dict(declared: Mapping[str, Any]) -> Any:
    """Return a TypedDict that refuses other keys, in the dicts within it as well."""
    make: Any = typing_extensions.TypedDict
    kind = make("kind", dict(declared), total=False)
    kind.__pydantic_config__ = pydantic.ConfigDict(
        extra="forbid", strict=True, arbitrary_types_allowed=True
    )
    return kind


def _said(
    name: str, error: Any, declared: Mapping[str, Any], source: str
) -> str | None:
    path = [str(part) for part in error["loc"]]
    where = name + "".join(f"[{part!r}]" for part in path)
    if error["type"] != "extra_forbidden":
        return f"{where} = {error['input']!r}: {error['msg']}"
    *outer, key = path
    known = declared
    for part in outer:
        known = _keys(known[part])
    if not outer and key in ELSEWHERE:
        return f"{where} cannot be set here: {ELSEWHERE[key]}"
    of_vllm = bool(outer) and outer[0] in OF_VLLM
    near = get_close_matches(key, known, 1, 0.9 if of_vllm else 0.6)
    if of_vllm and not near:
        return None  # a newer vLLM may know it
    if near:
        hint = f"did you mean {near[0]!r}?"
    elif homes := [
        part for part in (*OF_VLLM, *declared) if key in _keys(declared.get(part))
    ]:
        hint = f"put it under {homes[0]!r}"
    elif len(known) > MOST_NAMED:
        hint = f"see {source} for the list"
    else:
        hint = f"it takes {', '.join(sorted(known))}"
    return f"{where}: ART {version('openpipe-art')} has no such option; {hint}"


def _keys(kind: Any) -> Mapping[str, Any]:
    """Return the keys of a TypedDict with their types, also of one that may be None."""
    for each in (kind, *typing.get_args(kind)):
        if typing_extensions.is_typeddict(each):
            return typing.get_type_hints(each)
    return {}
