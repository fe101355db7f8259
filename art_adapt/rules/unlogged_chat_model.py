"""A wrapped rollout asks a chat model of its own, so its turns are not on the trajectory

``wrap_rollout`` fills a trajectory from the log that the models of ``art.langgraph`` write. A
``ChatOpenAI`` with the endpoint of the model in training asks the same policy and logs nothing:
the trajectory stays as the function made it, usually empty, and is dropped without a warning.

Make the model in the rollout with ``art.langgraph.init_chat_model()``.

Evidence: art 0.5.18, langgraph/llm_wrapper.py:40-107 (create_messages_from_logs); art 0.5.23,
langgraph/llm_wrapper.py:45-112.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from art_adapt.rules.code import Code
from art_adapt.rules.rule import Found, Rule, Severity, found

RULE = Rule("ART111", "unlogged-chat-model", Severity.GARBAGE)
BAD = (
    """\
import art
from art.langgraph import wrap_rollout
from langchain_openai import ChatOpenAI

def policy(model):
    base_url = model.inference_base_url
    return ChatOpenAI(base_url=base_url, api_key="k", model=model.get_inference_name())  # <-

async def rollout(model: art.Model, question: str) -> art.Trajectory:
    state = await graph_of(policy(model)).ainvoke({"messages": [("user", question)]})
    return art.Trajectory(messages_and_choices=[], reward=score(state))

async def collect(model, questions):
    wrapped = wrap_rollout(model, rollout)
    return await art.gather_trajectory_groups(
        art.TrajectoryGroup(wrapped(model, q) for _ in range(4)) for q in questions
    )
""",
    """\
import art
from art.langgraph import wrap_rollout
from langchain.chat_models import init_chat_model

class Runner:
    def __init__(self, model: art.Model):
        self.model = model

    async def rollout(self, question: str) -> art.Trajectory:
        endpoint = {"base_url": self.model.inference_base_url, "api_key": "k"}
        llm = init_chat_model("openai:policy", **endpoint)  # <-
        reply = await llm.ainvoke(question)
        return art.Trajectory(messages_and_choices=[], reward=score(reply))

    def wrapped(self):
        return wrap_rollout(self.model, self.rollout)
""",
)
GOOD = (
    """\
import art
from art.langgraph import init_chat_model, wrap_rollout
from langchain_openai import ChatOpenAI

async def rollout(model: art.Model, question: str) -> art.Trajectory:
    judge = ChatOpenAI(model="gpt-4o", base_url="https://api.openai.com/v1")
    state = await graph_of(init_chat_model()).ainvoke({"messages": [("user", question)]})
    verdict = await judge.ainvoke(state["messages"][-1].content)
    return art.Trajectory(messages_and_choices=[], reward=float("yes" in verdict.content))

def wrapped(model):
    return wrap_rollout(model, rollout)

async def try_out(model, question):
    llm = ChatOpenAI(base_url=model.inference_base_url, api_key=model.inference_api_key)
    print((await llm.ainvoke(question)).content)
""",
    """\
import art
from langchain_openai import ChatOpenAI

async def rollout(model: art.Model, question: str) -> art.Trajectory:
    llm = ChatOpenAI(base_url=model.inference_base_url, api_key="k")
    reply = await llm.ainvoke(question)
    return art.Trajectory(messages_and_choices=converted(reply), reward=score(reply))
""",
    """\
import art
from art.langgraph import init_chat_model, wrap_rollout
from langchain_openai import ChatOpenAI, OpenAIEmbeddings

async def rollout(model: art.Model, question: str) -> art.Trajectory:
    near = OpenAIEmbeddings(base_url=model.inference_base_url).embed_query(question)
    checker = ChatOpenAI(base_url=model.inference_base_url, api_key="k")
    reply = await init_chat_model().ainvoke(f"{near} {question}")
    verdict = await checker.ainvoke(reply.content)
    return art.Trajectory(messages_and_choices=[], reward=float("yes" in verdict.content))

def wrapped(model):
    return wrap_rollout(model, rollout)
""",
)
CHAT = re.compile(r"\.(Chat\w+|\w+ChatOpenAI|init_chat_model)$")
ENDPOINT = ("base_url", "openai_api_base")


def check(code: Code) -> Iterator[Found]:
    wrapped = {function.qualname for function in code.wrapped_rollouts}
    if not wrapped:
        return
    run = code.flow.functions.run_by(code.syntax, wrapped)
    filled = {code.syntax.owner(put.by) for put in code.trajectories.puts}
    logged = {code.syntax.owner(call) for call in code.art_calls("init_chat_model")}
    if not run.isdisjoint(filled | logged):
        return  # the rollout has turns all the same
    for call in code.calls:
        made = code.syntax.qualified(call.func) or ""
        is_chat = made.startswith("langchain") and CHAT.search(made) is not None
        if not is_chat or code.syntax.owner(call) not in run:
            continue
        if any(_is_of_policy(code, call, name) for name in ENDPOINT):
            yield found(
                call,
                "wrap_rollout does not see what this model is asked: the trajectory stays "
                "empty and is not trained; use art.langgraph.init_chat_model()",
            )


def _is_of_policy(code: Code, call: ast.Call, name: str) -> bool:
    """Return whether an argument is the endpoint of a model of ART."""
    given = code.contents.given(call, name)
    return given is not None and any(
        isinstance(value.node, ast.Attribute)
        and value.node.attr == "inference_base_url"
        for value in code.values(given)
    )
