"""backend.train or TrainConfig gets an unknown argument, so the call raises or the argument is lost

LocalBackend accepts ``loss_fn=`` but not ``ppo=``; ServerlessBackend of ART 0.5.18 accepts
``ppo=`` but not ``loss_fn=``; neither accepts ``config=``. The TypeError comes after the first
batch of rollouts has been paid for.

``art.TrainConfig(beta=0.01)`` raises nothing: pydantic drops what it does not know, and the run
goes on without it. The KL penalty is ``kl_penalty_coef``.

``loss_fn="grpo"`` is no loss of LocalBackend, which knows cispo and ppo.

Evidence: art 0.5.18, local/backend.py:638 and 750 and serverless/backend.py:193; art 0.5.23,
local/backend.py:1283, serverless/backend.py:227 and types.py:27 (TrainConfig).
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

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
    await backend.train(model, groups, loss_fn="ppo")
    other = ServerlessBackend()
    await other.train(model, groups, ppo=True)
""",
)

BOTH = frozenset(
    [
        *("learning_rate", "loss_fn", "loss_fn_config", "normalize_advantages"),
        *("adam_params", "kl_penalty_coef", "kl_penalty_reference_step"),
        *("kl_ref_adapter_path", "kl_penalty_source", "epsilon", "epsilon_high"),
        *("advantage_balance", "scale_rewards", "importance_sampling_level"),
        *("max_negative_advantage_importance_sampling_weight", "mask_prob_ratio"),
        *("kimi_k2_tau", "precalculate_logprobs", "allow_training_without_logprobs"),
        *("plot_tensors", "truncated_importance_sampling"),
        *("scale_learning_rate_by_reward_std_dev", "logprob_calculation_chunk_size"),
        *("packed_sequence_length", "num_trajectories_learning_rate_multiplier_power"),
        *("save_checkpoint", "optimizer_save_interval", "verbose"),
        *("model", "trajectory_groups"),
    ]
)
ACCEPTED = {
    "LocalBackend": BOTH | {"final_training_step", "grad_accumulation_sequences"},
    "ServerlessBackend": BOTH | {"ppo", "kl_penalty_step_lag"},
}
# The values of an argument, in either version; LocalBackend raises for another.
VALUES = {
    "loss_fn": frozenset({"cispo", "ppo"}),
    "kl_penalty_source": frozenset({"current_learner", "sample"}),
}
# Of TrainConfig in either version.
CONFIGURED = frozenset(
    {"learning_rate", "kl_penalty_coef", "kl_penalty_source", "final_training_step"}
    | {"grad_accumulation_sequences", "optimizer_save_interval"}
)


def check(code: Code) -> Iterator[Found]:
    for call in code.art_calls("TrainConfig"):
        if (code.art_name(call.func) or "").startswith("art.dev"):
            continue  # a TypedDict of other keys
        for name, value in code.contents.arguments(call):
            if name not in CONFIGURED:
                yield found(
                    value,
                    f"TrainConfig has no {name}: pydantic drops it silently",
                )
    for call, backend in code.method_calls("train"):
        values = code.values(backend)
        made = {
            (value.syntax.qualified(value.node.func) or "").rpartition(".")[2]
            if isinstance(value.node, ast.Call)
            else ""
            for value in values
        }
        if not made <= ACCEPTED.keys():
            continue
        accepted = frozenset().union(*(ACCEPTED[name] for name in made))
        for name, value in code.contents.arguments(call):
            if name not in accepted:
                yield found(
                    value,
                    f"{' and '.join(sorted(made))}.train does not accept {name}=: it "
                    "raises a TypeError after the rollouts have been paid for",
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
