"""backend.train or TrainConfig gets an unknown argument, so the call raises or the argument is lost

LocalBackend accepts ``loss_fn=`` but not ``ppo=``; ServerlessBackend of ART 0.5.18 accepts
``ppo=`` but not ``loss_fn=``; neither accepts ``config=``. The TypeError comes after the first
batch of rollouts has been paid for. PipelineTrainer of 0.5.18 always passes ``loss_fn=``, so it
cannot train with ServerlessBackend. From 0.5.20 on ServerlessBackend accepts it.

``art.TrainConfig(beta=0.01)`` raises nothing: pydantic drops what it does not know, and the run
goes on without it. The KL penalty is ``kl_penalty_coef``.

``loss_fn="grpo"`` is no loss of LocalBackend, which knows cispo and ppo. A
``packed_sequence_length`` is a multiple of ``logprob_calculation_chunk_size``, which is 1024.

Evidence: art 0.5.18, local/backend.py:510-518, 638 and 750, serverless/backend.py:193, types.py
(TrainConfig) and pipeline_trainer/trainer.py:523-535; art 0.5.20 and 0.5.23, the same names.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from art_adapt.code.nodes import argument_of
from art_adapt.rules.code import Code
from art_adapt.rules.rule import Found, Rule, Severity, found

RULE = Rule("ART515", "backend-arguments", Severity.WASTE)
BAD = (
    """\
import art
from art.local import LocalBackend

async def main(model, groups):
    backend = LocalBackend()
    await backend.train(model, groups, ppo=True)  # <-
    await backend.train(model, groups, config=art.TrainConfig())  # <-
    await backend.train(model, groups, loss_fn="grpo")  # <-
    await backend.train(model, groups, packed_sequence_length=15_000)  # <-
    return art.TrainConfig(learning_rate=1e-5, beta=0.01)  # <-
""",
)
GOOD = (
    """\
import art
from art.local import LocalBackend
from art.serverless import ServerlessBackend

async def main(model, groups):
    backend = LocalBackend()
    await backend.train(model, groups, loss_fn="ppo", packed_sequence_length=16_384)
    await backend.train(
        model, groups, packed_sequence_length=15_000, logprob_calculation_chunk_size=500
    )
    other = ServerlessBackend()
    await other.train(model, groups, ppo=True)
""",
)

COMMON = frozenset(
    [
        *("model", "trajectory_groups", "learning_rate", "epsilon", "epsilon_high"),
        *("advantage_balance", "scale_rewards", "importance_sampling_level"),
        *("max_negative_advantage_importance_sampling_weight", "mask_prob_ratio"),
        *("kimi_k2_tau", "precalculate_logprobs", "verbose"),
    ]
)
FULL = COMMON | frozenset(
    [
        *("loss_fn", "loss_fn_config", "normalize_advantages", "adam_params"),
        *("kl_penalty_coef", "kl_penalty_reference_step", "kl_ref_adapter_path"),
        *("allow_training_without_logprobs", "plot_tensors", "save_checkpoint"),
        *("truncated_importance_sampling", "scale_learning_rate_by_reward_std_dev"),
        *("logprob_calculation_chunk_size", "packed_sequence_length"),
        *("num_trajectories_learning_rate_multiplier_power",),
    ]
)
NEW = FULL | {"kl_penalty_source", "optimizer_save_interval"}
CONFIGURED = frozenset({"learning_rate", "kl_penalty_coef"}) | {
    "grad_accumulation_sequences"
}
# What each accepts: in ART 0.5.18, and from NEWER on.
NEWER = "0.5.20"
ACCEPTED = {
    "LocalBackend": (
        FULL,
        NEW | {"final_training_step", "grad_accumulation_sequences"},
    ),
    "ServerlessBackend": (COMMON | {"ppo"}, NEW | {"ppo", "kl_penalty_step_lag"}),
    "TrainConfig": (
        CONFIGURED,
        CONFIGURED
        | {"kl_penalty_source", "final_training_step", "optimizer_save_interval"},
    ),
}
CHUNK = 1024  # the default of logprob_calculation_chunk_size
# The values of an argument, in either version; LocalBackend raises for another.
VALUES = {
    "loss_fn": frozenset({"cispo", "ppo"}),
    "kl_penalty_source": frozenset({"current_learner", "sample"}),
}


def check(code: Code) -> Iterator[Found]:
    art = f"of ART {code.target.art}" if code.target.art else ""
    for call in code.art_calls("TrainConfig"):
        if (code.art_name(call.func) or "").startswith("art.dev"):
            continue  # a TypedDict of other keys
        for name, value in code.contents.arguments(call):
            if name not in _accepted(code, "TrainConfig"):
                missing = f"TrainConfig {art}".rstrip()
                yield found(
                    value, f"{missing} has no {name}: pydantic drops it silently"
                )
    for call, backend in code.method_calls("train"):
        made = _made(code, backend)
        if not made or not made <= ACCEPTED.keys():
            continue
        accepted = frozenset().union(*(_accepted(code, name) for name in made))
        for name, value in code.contents.arguments(call):
            if name not in accepted:
                trains = f"{' and '.join(sorted(made))}.train {art}".rstrip()
                yield found(
                    value,
                    f"{trains} does not accept {name}=: it raises a TypeError after the "
                    "rollouts have been paid for",
                )
            elif made == {"LocalBackend"} and name in VALUES:
                given = code.constant(value)
                if isinstance(given, str) and given not in VALUES[name]:
                    allowed = " and ".join(map(repr, sorted(VALUES[name])))
                    yield found(
                        value,
                        f"{name}={given!r}: LocalBackend.train knows {allowed}, and raises "
                        "after the rollouts have been paid for",
                    )
        if made == {"LocalBackend"}:
            yield from _not_in_chunks(code, call)
    if code.target.is_before(NEWER):
        yield from _in_pipelines(code)


def _not_in_chunks(code: Code, call: ast.Call) -> Iterator[Found]:
    """Yield a packed length that LocalBackend cannot cut into chunks."""
    given = dict(code.contents.arguments(call))
    length = given.get("packed_sequence_length")
    chunk = given.get("logprob_calculation_chunk_size")
    size = CHUNK if chunk is None else code.constant(chunk)
    tokens = code.constant(length)
    if (
        length is not None
        and isinstance(tokens, int)
        and isinstance(size, int)
        and tokens % (size or 1)
    ):
        yield found(
            length,
            f"{tokens} is no multiple of logprob_calculation_chunk_size ({size}): "
            "LocalBackend.train raises after the rollouts have been paid for",
        )


def _in_pipelines(code: Code) -> Iterator[Found]:
    """Yield the pipelines whose backend does not accept what PipelineTrainer passes it."""
    for call in code.art_calls("PipelineTrainer"):
        backend = argument_of(call, "backend", ("model", "backend"))
        if backend is not None and _made(code, backend) == {"ServerlessBackend"}:
            yield found(
                backend,
                f"PipelineTrainer of ART {code.target.art} passes loss_fn= to the backend, which "
                "ServerlessBackend does not accept: the first training step raises a TypeError",
            )


def _made(code: Code, backend: ast.expr) -> set[str]:
    """Return the last names of the classes whose object this may be; "" for another value."""
    return {
        (value.syntax.qualified(value.node.func) or "").rpartition(".")[2]
        if isinstance(value.node, ast.Call)
        else ""
        for value in code.values(backend)
    }


def _accepted(code: Code, name: str) -> frozenset[str]:
    """Return the arguments that one accepts: in both versions if it is not known which runs."""
    old, new = ACCEPTED[name]
    if code.target.is_before(NEWER):
        return old
    return new if code.target.is_from(NEWER) else old | new
