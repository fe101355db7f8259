"""Tools are sent but not recorded, so training uses a prompt without them

ART 0.5.18 renders the prompt again from ``trajectory.tools``: without them the model is
trained on a prompt without its tool block, which it never saw. On both versions RULER's judge
and the logs do not show which tools there were.

Set ``trajectory.tools`` to the list that is sent.

Evidence: art 0.5.18, preprocessing/tokenize.py:262-265 and 358-379; art 0.5.23,
rewards/ruler.py:406-409.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from art_adapt.rules.code import Code
from art_adapt.rules.rule import Found, Rule, Severity, found
from art_adapt.survey.nodes import keyword

RULE = Rule("ART204", "tools-not-recorded", Severity.GARBAGE)
BAD = (
    """\
import art

async def rollout(client, model, messages):
    trajectory = art.Trajectory(messages_and_choices=messages)
    response = await client.chat.completions.create(
        model="m", messages=messages, tools=TOOLS  # <-
    )
    trajectory.messages_and_choices.append(response.choices[0])
    return trajectory
""",
)
GOOD = (
    """\
import art

async def rollout(client, model, messages):
    trajectory = art.Trajectory(messages_and_choices=messages, tools=TOOLS)
    response = await client.chat.completions.create(model="m", messages=messages, tools=TOOLS)
    trajectory.messages_and_choices.append(response.choices[0])
    return trajectory
""",
    """\
import art

async def rollout(client, model, messages):
    trajectory = art.Trajectory()
    trajectory.tools = TOOLS
    response = await client.chat.completions.create(model="m", messages=messages, tools=TOOLS)
    trajectory.messages_and_choices.append(response.choices[0])
    return trajectory
""",
)


def check(code: Code) -> Iterator[Found]:
    if not code.trajectories.puts or _sets_tools(code):
        return
    for call in code.completions.of_policy:
        tools = code.completions.argument(call, "tools")
        if call.recorded or tools is None or code.constant(tools) is None:
            continue
        yield found(
            tools,
            "these tools are not on the trajectory: training and judges see a prompt "
            "without them; set trajectory.tools",
        )


def _sets_tools(code: Code) -> bool:
    """Return whether the file sets the tools of any trajectory."""
    if any(keyword(call, "tools") for call in code.trajectories.new):
        return True
    return any(
        isinstance(target, ast.Attribute) and target.attr == "tools"
        for node in code.syntax.nodes
        if isinstance(node, ast.Assign)
        for target in node.targets
    )
