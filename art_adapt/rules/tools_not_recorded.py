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

from art_adapt.code.syntax import MODULE_LEVEL
from art_adapt.rules.code import Code, Value
from art_adapt.rules.code.completions import Argument
from art_adapt.rules.code.values import constant
from art_adapt.rules.rule import Found, Rule, Severity, found

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
    """\
import art

class Clerk:
    tools = [{"type": "function", "function": {"name": "find", "parameters": {}}}]

    def __init__(self, model):
        self.model = model

    @property
    def options(self):
        return dict(model=self.model.get_inference_name(), tools=self.tools)

    async def run(self, s):
        trajectory = art.Trajectory(messages_and_choices=[s.asked])
        response = await self.model.openai_client().chat.completions.create(
            messages=trajectory.messages(), **self.options  # <-
        )
        trajectory.messages_and_choices.append(response.choices[0])
        return trajectory
""",
    """\
import art
from tools import SCHEMAS

def request(overrides=None):
    kwargs = {"max_completion_tokens": 512, **(overrides or {})}
    if SCHEMAS:
        kwargs.update(tools=list(SCHEMAS), tool_choice="auto")
    return kwargs

async def rollout(client, model, wish, overrides=None):
    trajectory = art.Trajectory(messages_and_choices=[wish])
    kwargs = request(overrides)
    for _ in range(8):
        response = await client.chat.completions.create(
            model=model.name, messages=trajectory.messages(), **kwargs  # <-
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
    if not code.trajectories.puts:
        return
    setting = set(_setting_tools(code))
    making = {code.syntax.owner(call) for call in code.trajectories.new}
    for call in code.completions.of_policy:
        tools = code.completions.argument(call, "tools")
        if call.recorded or tools is None or _may_be_left_out(tools):
            continue
        if setting & {call.function} if call.function in making else setting:
            if _are_fewer(code, tools.values):
                yield found(
                    tools.at,
                    "the trajectory has only some of these tools: training and judges see "
                    "a prompt without the others; record the tools that are sent",
                )
            continue
        yield found(
            tools.at,
            "these tools are not on the trajectory: training and judges see a prompt "
            "without them; set trajectory.tools",
        )


def _may_be_left_out(tools: Argument) -> bool:
    """Return whether nothing here says that tools are ever sent: None, or a default of None.

    ``tools or None`` and ``tools if tools else None`` send those that there are, and so does
    a helper that is called with some.
    """
    if any(isinstance(each.node, ast.List) and each.node.elts for each in tools.values):
        return False
    choices = ast.IfExp | ast.BoolOp
    none = [each for each in tools.values if constant(each) is None]
    chosen = any(
        bool(these)
        and all(
            isinstance(each.node, choices)
            or isinstance(each.syntax.parents.get(each.node), choices)
            for each in these
        )
        for these in (tools.written, none)
    )
    return None in tools.constants and (not chosen or len(tools.constants) == 1)


def _are_fewer(code: Code, sent: tuple[Value, ...]) -> bool:
    """Return whether the only tools that the file records are a part of those sent."""
    recorded = [
        given
        for call in code.trajectories.new
        if (given := code.contents.given(call, "tools")) is not None
    ]
    if len(recorded) != 1 or len(sent) != 1:
        return False
    ours = set(map(_spelled, code.contents.elements(recorded[0])))
    theirs = set(map(_spelled, code.contents.elements(sent[0])))
    return ours < theirs


def _spelled(tool: Value) -> str:
    return ast.dump(tool.node)


def _setting_tools(code: Code) -> Iterator[str]:
    """Yield the functions that set the tools of a trajectory, or may do so."""
    for call in code.trajectories.new:
        if code.contents.given(call, "tools") or code.contents.may_give(call, "tools"):
            yield code.syntax.owner(call)
    for node in code.syntax.nodes:
        if isinstance(node, ast.Attribute) and node.attr == "tools":
            of = node.value
            own = isinstance(of, ast.Name) and of.id == "self"
            owner = code.syntax.owner(node)
            if isinstance(node.ctx, ast.Store) and owner != MODULE_LEVEL and not own:
                yield owner
