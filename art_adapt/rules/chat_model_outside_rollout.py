"""ART's LangGraph helpers are used outside of a rollout, so the program ends with an error

``init_chat_model()`` reads what ``wrap_rollout`` has set for the running rollout: at module level
it raises LookupError when the file is imported. ``wrap_rollout(model, fn)`` takes both at once: as
a decorator, ``@wrap_rollout(model)``, it raises TypeError.

A rollout that is wrapped under another name, and grouped under its own, runs outside as well: each
episode raises, and ``max_exceptions`` hides it.

Call ``init_chat_model()`` in the rollout, and write ``rollout = wrap_rollout(model, rollout)``.

Evidence: art 0.5.18, langgraph/llm_wrapper.py:95-123 (CURRENT_CONFIG has no default); art 0.5.23,
langgraph/llm_wrapper.py:100-173.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from art_adapt.code.nodes import FunctionNode
from art_adapt.code.syntax import MODULE_LEVEL
from art_adapt.rules.code import Code
from art_adapt.rules.rule import Found, Rule, Severity, found

RULE = Rule("ART547", "chat-model-outside-rollout", Severity.WASTE)
BAD = (
    """\
import art
from art.langgraph import init_chat_model, wrap_rollout

llm = init_chat_model()  # <-

class Agent:
    judge = init_chat_model(temperature=1.0)  # <-

def ask(text, model=init_chat_model()):  # <-
    return model.invoke(text)
""",
    """\
import art
from art.langgraph import init_chat_model, wrap_rollout

model = art.TrainableModel(name="a", project="p", base_model="b")

@wrap_rollout(model)  # <-
async def schedule(request: dict) -> art.Trajectory:
    reply = await init_chat_model().ainvoke(request["messages"])
    return art.Trajectory(messages_and_choices=[], reward=float(request["slot"] in reply.content))
""",
    """\
import art
from art.langgraph import init_chat_model, wrap_rollout

async def schedule(request):
    reply = await init_chat_model().ainvoke(request["messages"])
    return art.Trajectory(messages_and_choices=[], reward=float(request["slot"] in reply.content))

async def train(model, requests, held_out):
    wrapped = wrap_rollout(model, schedule)
    await model.log([await wrapped(each) for each in held_out], split="val")
    return await art.gather_trajectory_groups(
        art.TrajectoryGroup(schedule(r) for _ in range(8)) for r in requests  # <-
    )
""",
)
GOOD = (
    """\
import art
from art.langgraph import init_chat_model, wrap_rollout

async def schedule(request):
    reply = await init_chat_model().ainvoke(request["messages"])
    return art.Trajectory(messages_and_choices=[], reward=float(request["slot"] in reply.content))

async def train(model, requests):
    wrapped = wrap_rollout(model, schedule)
    return await art.gather_trajectory_groups(
        art.TrajectoryGroup(wrapped(r) for _ in range(8)) for r in requests
    )

async def train_again(model, requests):
    schedule = wrap_rollout(model, globals()["schedule"])
    return await art.gather_trajectory_groups(
        art.TrajectoryGroup(schedule(r) for _ in range(8)) for r in requests
    )
""",
    """\
import art
from art.langgraph import init_chat_model, wrap_rollout

async def schedule(request: dict) -> art.Trajectory:
    reply = await init_chat_model().ainvoke(request["messages"])
    return art.Trajectory(messages_and_choices=[], reward=float(request["slot"] in reply.content))

def rollout_of(model):
    return wrap_rollout(model, schedule)

make = lambda: init_chat_model()

def wrapped(options):
    return wrap_rollout(**options)

try:
    llm = init_chat_model()
except LookupError:
    llm = None
""",
    """\
from langchain.chat_models import init_chat_model

llm = init_chat_model("openai:gpt-4o")
""",
)


def check(code: Code) -> Iterator[Found]:
    for call in code.art_calls("init_chat_model"):
        if _is_run_at_import(code, call) and not code.is_caught(call):
            yield found(
                call,
                "no rollout runs when the file is imported: init_chat_model raises LookupError; "
                "call it in the rollout",
            )
    for call in _unwrapped(code):
        yield found(
            call,
            "this is the rollout without its wrapper: init_chat_model raises LookupError in it; "
            "call what wrap_rollout returned",
        )
    for call in code.art_calls("wrap_rollout"):
        spread = any(isinstance(each, ast.Starred) for each in call.args)
        spread = spread or any(each.arg is None for each in call.keywords)
        if len(call.args) + len(call.keywords) == 1 and not spread:
            yield found(
                call,
                "wrap_rollout needs the model and the function: this raises TypeError; write "
                "wrap_rollout(model, rollout)",
            )


def _unwrapped(code: Code) -> Iterator[ast.Call]:
    """Yield the calls of a group that run a wrapped rollout under the name that is not wrapped."""
    if not any(code.art_calls("init_chat_model")):
        return
    wrapped = [code.given_function(each) for each in code.given_to_wrap]
    for group in code.art_calls("TrajectoryGroup"):
        for node in ast.walk(group):
            if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name):
                continue
            function = code.flow.functions.in_file(code.syntax, node.func)
            if function in wrapped and not code.syntax.values_of(node.func):
                yield node


def _is_run_at_import(code: Code, call: ast.Call) -> bool:
    """Return whether a call stands at module level, in a class, or in a default."""
    inner: ast.AST = call
    for outer in code.syntax.ancestors(call):
        if isinstance(outer, ast.Lambda):
            return False
        if isinstance(outer, FunctionNode) and inner is not outer.args:
            return False
        inner = outer
    return code.syntax.owner(call) == MODULE_LEVEL or isinstance(inner, FunctionNode)
