"""The policy is not sampled at temperature 1, so the importance weights are wrong

ART's loss compares the trainer's logprobs, at temperature 1, with the logprobs from sampling.
The engine reports logprobs before temperature is applied, so tokens that were sampled more or
less often than these logprobs say get the wrong weight.

``art.langgraph.init_chat_model`` samples at 1 by itself. ART 0.5.18 ignores a temperature that it is
given, 0.5.23 samples at it.

Evidence: art 0.5.18 and 0.5.23, loss.py (the ratio of new to sampled logprobs);
langgraph/llm_wrapper.py (init_chat_model).
"""

from __future__ import annotations

from collections.abc import Iterator

from art_adapt.code.nodes import keyword
from art_adapt.rules.code import Code
from art_adapt.rules.rule import Found, Rule, Severity, found

RULE = Rule("ART402", "other-temperature", Severity.GARBAGE)
BAD = (
    """\
import art

async def rollout(client, model, messages):
    trajectory = art.Trajectory(messages_and_choices=messages)
    response = await client.chat.completions.create(
        model=model.get_inference_name(), messages=messages, temperature=0.7  # <-
    )
    trajectory.messages_and_choices.append(response.choices[0])
    return trajectory
""",
    """\
import argparse
import art

async def rollout(client, model, messages, temperature):
    trajectory = art.Trajectory(messages_and_choices=messages)
    response = await client.chat.completions.create(
        model=model.get_inference_name(), messages=messages, temperature=temperature  # <-
    )
    trajectory.messages_and_choices.append(response.choices[0])
    return trajectory

async def main(client, model, scenarios):
    parser = argparse.ArgumentParser()
    parser.add_argument("--temperature", type=float, default=0.5)
    args = parser.parse_args()
    return [rollout(client, model, each, args.temperature) for each in scenarios]
""",
    """\
import art
from art.langgraph import init_chat_model, wrap_rollout

WARMTH = 0.8

async def rollout(question):
    planner = init_chat_model("policy", temperature=0)  # <-
    writer = init_chat_model("policy", temperature=WARMTH, max_tokens=512)  # <-
    plan = await planner.ainvoke(question)
    answer = await writer.ainvoke([question, plan])
    return art.Trajectory(reward=float("42" in answer.content))
""",
)
GOOD = (
    BAD[0].replace("0.7  # <-", "1"),
    BAD[0].replace("0.7  # <-", "TEMPERATURE"),
    BAD[1].replace("  # <-", "").replace("default=0.5", "default=1.0"),
    BAD[1].replace("  # <-", "").replace(", default=0.5", ", required=True"),
    BAD[2].replace("  # <-", "").replace("=0)", "=1)").replace("0.8", "1.0"),
)


def check(code: Code) -> Iterator[Found]:
    for _, given in code.completions.sampling("temperature"):
        value, is_certain = given.usual, given.constant is not ...
        if isinstance(value, int | float) and value >= 0.05 and value != 1:
            when = "" if is_certain else " by default"
            yield found(
                given.at,
                f"sampled at temperature {value}{when} but trained as if at 1, so the "
                "importance weights are wrong",
            )
    for call, other in code.completions.chat_models:
        if other is not None:
            continue  # which ART110 reports
        at = keyword(call, "temperature")
        value = code.constant(at)
        if at is not None and isinstance(value, int | float) and value != 1:
            yield found(
                at,
                f"before ART 0.5.23 temperature {value} is ignored, and since then the policy is "
                "sampled at it but trained as if at 1: leave it out",
            )
