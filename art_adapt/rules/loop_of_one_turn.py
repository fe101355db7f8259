"""A loop over turns returns in its first turn, so the agent never sees what it is answered

The loop asks the model, adds the answer of the environment for the next turn, and then leaves in
any case: the ``return`` stands one indentation too deep. Each episode has one turn, and the
message at its end is read by nobody.

Put the ``return`` behind the loop.

Evidence: Python (``return`` ends a loop); art 0.5.18, preprocessing/tokenize.py:345 (what follows
the last Choice is not trained).
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from art_adapt.rules.code import Code
from art_adapt.rules.rule import Found, Rule, Severity, found

RULE = Rule("ART217", "loop-of-one-turn", Severity.WASTE)
BAD = (
    """\
import art

async def rollout(client, model, env):
    trajectory = art.Trajectory(messages_and_choices=[env.opening()])
    for _ in range(6):
        response = await client.chat.completions.create(
            model=model.get_inference_name(), messages=trajectory.messages()
        )
        choice = response.choices[0]
        trajectory.messages_and_choices.append(choice)
        answer, closed = await env.respond(choice.message.content or "")
        if closed:
            break
        trajectory.messages_and_choices.append({"role": "user", "content": answer})
        trajectory.reward = env.utility()
        return trajectory  # <-
""",
)
GOOD = (
    BAD[0].replace("        return trajectory  # <-", "    return trajectory"),
    BAD[0]
    .replace("if closed:\n            break", "if not closed:\n            continue")
    .replace("  # <-", ""),
    """\
import art

async def rollout(client, model, question):
    trajectory = art.Trajectory(messages_and_choices=[{"role": "user", "content": question}])
    for _ in range(3):
        try:
            response = await client.chat.completions.create(
                model=model.get_inference_name(), messages=trajectory.messages()
            )
        except TimeoutError:
            continue
        trajectory.messages_and_choices.append(response.choices[0])
        return trajectory
""",
)


def check(code: Code) -> Iterator[Found]:
    for loop in code.syntax.nodes:
        if not isinstance(loop, ast.For | ast.AsyncFor | ast.While):
            continue
        last = loop.body[-1]
        if not isinstance(
            last, ast.Return | ast.Break
        ) or not code.trajectories.in_rollout(loop):
            continue
        inside = set(code.blocks.inside(loop))
        goes_on = any(isinstance(node, ast.Continue | ast.Try) for node in inside)
        puts = [put for put in code.trajectories.puts if put.by in inside]
        sampled = [put for put in puts if code.sampled.is_choice(put.value)]
        answers = [
            put
            for put in puts
            if sampled
            and put.at.lineno > sampled[0].at.lineno
            and code.sampled.kind(put.value) is None
            and code.contents.item(put.value, "role").values
        ]
        if sampled and answers and not goes_on:
            yield found(
                last,
                "each episode leaves the loop here in its first turn, and the message of line "
                f"{answers[-1].at.lineno} is never sent: leave it after the loop",
            )
