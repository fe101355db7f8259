"""The policy is sampled with a fixed seed, so rollouts are alike and nothing is learned

Rollouts of one scenario that send the same request with the same seed get the same answer:
their group has no variance.

Evidence: vllm, SamplingParams.seed (a generator for each request); art 0.5.18,
preprocessing/tokenize.py:254-258; art 0.5.23, preprocessing/tokenize.py:762-779.
"""

from __future__ import annotations

from collections.abc import Iterator

from art_adapt.rules.code import Code
from art_adapt.rules.rule import Found, Rule, Severity, found

RULE = Rule("ART403", "fixed-seed", Severity.GARBAGE)
BAD = (
    """\
import art

async def rollout(client, model, messages):
    trajectory = art.Trajectory(messages_and_choices=messages)
    response = await client.chat.completions.create(
        model=model.get_inference_name(), messages=messages, seed=42  # <-
    )
    trajectory.messages_and_choices.append(response.choices[0])
    return trajectory
""",
    """\
import art
from types import SimpleNamespace

cfg = SimpleNamespace(seed=7, sampling=SimpleNamespace(temperature=1.0))

def options(cfg):
    return {**vars(cfg.sampling), "seed": cfg.seed}

async def rollout(client, model, s):
    trajectory = art.Trajectory(messages_and_choices=[s.asked])
    response = await client.chat.completions.create(
        model=model.get_inference_name(), messages=trajectory.messages(), **options(cfg)  # <-
    )
    trajectory.messages_and_choices.append(response.choices[0])
    return trajectory
""",
)
GOOD = (BAD[0].replace(", seed=42  # <-", ""), BAD[0].replace("42  # <-", "draw()"))


def check(code: Code) -> Iterator[Found]:
    for given, value in code.completions.sampled_with("seed"):
        if isinstance(value, int) and value is not True:
            yield found(
                given,
                "with a fixed seed the rollouts of a group are alike: the group has no "
                "variance and nothing is learned",
            )
