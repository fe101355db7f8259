"""TrainableModel gets an argument that is silently ignored

``art.TrainableModel(learning_rate=...)`` and ``internal_config=...`` raise nothing: the model
takes ``**kwargs`` and drops what it does not know. The run trains with the defaults.

``ServerlessBackend`` does not read ``_internal_config``: the rank of the LoRA, the length of the
context and all else in it have no effect there.

Give the learning rate to ``backend.train``, and the configuration of the engine and of the
trainer as ``_internal_config``, with the underscore.

Evidence: art 0.5.18 and 0.5.23, model.py (``TrainableModel.__init__``), serverless/backend.py
(nothing there reads it).
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from art_adapt.code.nodes import given_to
from art_adapt.rules.code import Code
from art_adapt.rules.rule import Found, Rule, Severity, found

RULE = Rule("ART540", "ignored-model-field", Severity.WASTE)
BAD = (
    """\
import art

model = art.TrainableModel(
    name="m-1",
    run_name="m-1",
    project="p",
    base_model="Qwen/Qwen2.5-7B-Instruct",
    learning_rate=2e-5,  # <-
    internal_config={"engine_args": {"gpu_memory_utilization": 0.7}},  # <-
)
""",
    """\
from art import TrainableModel

SETTINGS = {"name": "m", "run_name": "m", "project": "p", "base_model": "b", "epochs": 3}  # <-
model = TrainableModel(**SETTINGS)
""",
    """\
import art
from art.serverless.backend import ServerlessBackend

async def main(rank):
    model = art.TrainableModel(
        name="m",
        run_name="m",
        project="p",
        base_model="b",
        _internal_config=art.dev.InternalModelConfig(peft_args={"r": rank}),  # <-
    )
    await model.register(ServerlessBackend())
""",
)
GOOD = (
    """\
import art

class Mine(art.TrainableModel):
    learning_rate: float = 1e-5

model = art.TrainableModel(
    name="m-1",
    run_name="m-1",
    project="p",
    base_model="Qwen/Qwen2.5-7B-Instruct",
    config={"learning_rate": 2e-5},
    _internal_config={"engine_args": {"gpu_memory_utilization": 0.7}},
)
other = Mine(name="m", run_name="m", project="p", base_model="b", learning_rate=2e-5)
""",
    """\
import art
from art.local import LocalBackend
from art.serverless.backend import ServerlessBackend

async def main(is_local, config):
    model = art.TrainableModel(
        name="m", run_name="m", project="p", base_model="b", _internal_config=config
    )
    await model.register(LocalBackend() if is_local else ServerlessBackend())
""",
)
# Of either version.
FIELDS = frozenset(
    {"name", "run_name", "project", "entity", "id", "run_id", "config", "base_model"}
    | {"lora_config", "base_path", "report_metrics", "_internal_config", "trainable"}
    | {"inference_api_key", "inference_base_url", "inference_model_name"}
)
INSTEAD = {
    "internal_config": "write _internal_config=",
    "learning_rate": "give it to backend.train",
}


def check(code: Code) -> Iterator[Found]:
    is_rented = _is_only_rented(code)
    for call in code.art_calls("TrainableModel"):
        for name, value in code.contents.arguments(call):
            if name not in FIELDS:
                instead = INSTEAD.get(
                    name, "keep it in config= if your rollouts read it"
                )
                yield found(
                    value,
                    f"TrainableModel has no {name}: the argument is silently ignored; "
                    f"{instead}",
                )
            elif (
                name == "_internal_config"
                and is_rented
                and code.constant(value) is not None
            ):
                yield found(
                    value,
                    "ServerlessBackend does not read _internal_config: nothing in it has an "
                    "effect",
                )


def _is_only_rented(code: Code) -> bool:
    """Return whether models are registered with backends that are all ServerlessBackend."""
    given = [
        value.node
        for call, _ in code.method_calls("register")
        for argument in given_to(call)
        for value in code.values(argument)
    ]
    return bool(given) and all(
        isinstance(made, ast.Call)
        and (code.art_name(made.func) or "").endswith("ServerlessBackend")
        for made in given
    )
