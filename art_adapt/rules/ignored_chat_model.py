"""ART's init_chat_model is asked for another model, but only knows the policy's endpoint

``art.langgraph.init_chat_model("openai:gpt-4o")`` looks like LangChain's function of that name, but
always asks the endpoint of the model in training, and logs the conversation. On ART 0.5.18 the
name is ignored: a judge or a simulated user is the policy itself, which grades its own answers,
and its turns are trained. On 0.5.23 the endpoint is asked for a model that it does not have.

Make other models with ``langchain.chat_models.init_chat_model`` or ``ChatOpenAI``.

Evidence: art 0.5.18, langgraph/llm_wrapper.py:95-113; art 0.5.23, langgraph/llm_wrapper.py:115-173
(init_chat_model).
"""

from __future__ import annotations

from collections.abc import Iterator

from art_adapt.rules.code import Code
from art_adapt.rules.rule import Found, Rule, Severity, found

RULE = Rule("ART110", "ignored-chat-model", Severity.GARBAGE)
BAD = (
    """\
import art
from art.langgraph import init_chat_model, wrap_rollout

async def rollout(model, scenario):
    judge = init_chat_model("openai:gpt-4o", temperature=0)  # <-
    user = init_chat_model(model="claude-sonnet-4-5")  # <-
    agent = init_chat_model()
    answer = await agent.ainvoke([{"role": "user", "content": scenario}])
    return art.Trajectory(reward=float((await judge.ainvoke(answer.content)).content))
""",
)
GOOD = (
    """\
import art
from art.langgraph import init_chat_model, wrap_rollout
from langchain.chat_models import init_chat_model as init_other_model

async def rollout(model, scenario):
    judge = init_other_model("openai:gpt-4o", temperature=0)
    agent = init_chat_model("Qwen/Qwen2.5-7B-Instruct", temperature=1.0)
    answer = await agent.ainvoke([{"role": "user", "content": scenario}])
    return art.Trajectory(reward=float((await judge.ainvoke(answer.content)).content))
""",
)


def check(code: Code) -> Iterator[Found]:
    for call, name in code.completions.chat_models:
        if name is not None:
            yield found(
                call,
                f"this calls the policy's endpoint and not {name}: the policy answers in its "
                "place and is trained on it, or the call fails; use LangChain's own function",
            )
