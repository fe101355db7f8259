"""The model's internal config is refused or comes too late, so the run ends or ignores it

ART checks ``_internal_config`` when the model is registered: ``trainer_gpu_ids`` and
``inference_gpu_ids`` belong together and may not overlap, and ``fast_inference`` is gone. ART
0.5.18 also wants the trainer's GPUs to be 0, 1, ... and one GPU for inference.

``register`` reads the config. What is assigned after it, such as the sequence length or the rank
of the adapter, is ignored without a word.

Evidence: art 0.5.18, dev/validate.py and local/backend.py:404-440; art 0.5.20 to 0.5.23,
dev/validate.py.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from art_adapt.code.nodes import dotted
from art_adapt.rules.code import Code
from art_adapt.rules.rule import Found, Rule, Severity, found

RULE = Rule("ART550", "refused-config", Severity.WASTE)
BAD = (
    """\
import art

one = art.TrainableModel(
    name="a",
    project="p",
    base_model="b",
    _internal_config=art.dev.InternalModelConfig(trainer_gpu_ids=[0]),  # <-
)
two = art.TrainableModel(
    name="b",
    project="p",
    base_model="b",
    _internal_config={"trainer_gpu_ids": [0, 1], "inference_gpu_ids": [1]},  # <-
)
three = art.TrainableModel(
    name="c",
    project="p",
    base_model="b",
    _internal_config=art.dev.InternalModelConfig(
        init_args=art.dev.InitArgs(fast_inference=True),  # <-
    ),
)
""",
    """\
import art

async def start(backend):
    model = art.TrainableModel(name="a", project="p", base_model="b")
    await model.register(backend)
    model._internal_config = art.dev.InternalModelConfig(  # <-
        init_args=art.dev.InitArgs(max_seq_length=8192)
    )
    return model
""",
)
GOOD = (
    """\
import art

async def start(backend, config):
    model = art.TrainableModel(
        name="a",
        project="p",
        base_model="b",
        _internal_config=art.dev.InternalModelConfig(trainer_gpu_ids=[0], inference_gpu_ids=[1]),
    )
    model._internal_config["peft_args"] = {"r": 16}
    await model.register(backend)
    return art.TrainableModel(name="c", project="p", base_model="b", _internal_config=config)
""",
)

CONFIG = "_internal_config"
TRAINER, INFERENCE = "trainer_gpu_ids", "inference_gpu_ids"
LATER = "0.5.20"  # takes any GPUs of the trainer, and several for inference


def check(code: Code) -> Iterator[Found]:
    yield from _too_late(code)
    given = [
        code.contents.given(call, CONFIG) for call in code.art_calls("TrainableModel")
    ]
    for config in dict.fromkeys(each for each in given if each is not None):
        why = _why_refused(code, config)
        if why:
            yield found(config, f"registering the model raises a ValueError: {why}")
        for value in code.contents.item(config, "init_args").written:
            if code.has(value) and code.contents.item(value, "fast_inference").values:
                yield found(
                    value.node,
                    "registering the model raises a ValueError: fast_inference is no longer "
                    "supported",
                )


def _why_refused(code: Code, config: ast.expr) -> str:
    """Return what ART says of the GPUs of a config; "" if it takes them, or nobody knows."""
    parts = [code.contents.item(config, name) for name in (TRAINER, INFERENCE)]
    if code.contents.item(config, "vllm_runtime").values or not all(
        part.known or part.values for part in parts
    ):
        return ""
    if bool(parts[0].values) != bool(parts[1].values):
        return f"{TRAINER} and {INFERENCE} are both set, or neither is"
    trainer, inference = (_numbers(code, name, config) for name in (TRAINER, INFERENCE))
    if trainer is None or inference is None:
        return ""
    if not set(trainer).isdisjoint(inference):
        return "a GPU is both the trainer's and the engine's"
    if code.target.is_before(LATER):
        if trainer != list(range(len(trainer))):
            return f"{TRAINER} are 0, 1, and so on (before ART {LATER})"
        if len(inference) > 1:
            return f"{INFERENCE} has one GPU (before ART {LATER})"
    return ""


def _numbers(code: Code, name: str, config: ast.expr) -> list[object] | None:
    """Return the numbers of a list in a config; None if any of them is not known."""
    values = code.contents.item(config, name).values
    if len(values) != 1 or not isinstance(values[0].node, ast.List):
        return None
    numbers = [code.constant(values[0].of(each)) for each in values[0].node.elts]
    return None if ... in numbers else numbers


def _too_late(code: Code) -> Iterator[Found]:
    """Yield the configs that are assigned after the model has been registered."""
    registered = {
        (code.syntax.owner(call), dotted(model)): call
        for call, model in code.method_calls("register")
    }
    for node in code.syntax.nodes:
        if not isinstance(node, ast.Assign):
            continue
        for target in node.targets:
            if isinstance(target, ast.Attribute) and target.attr == CONFIG:
                key = code.syntax.owner(node), dotted(target.value)
                before = registered.get(key)
                if before is not None and node in code.blocks.following(before):
                    yield found(
                        node,
                        "the model is registered already, so this config is ignored: set it "
                        "before model.register(backend)",
                    )
