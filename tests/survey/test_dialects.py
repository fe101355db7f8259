"""The same agent in every dialect: the survey and the decisions are the same, whichever API it calls."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from textwrap import dedent

import pytest

from art_adapt.calls import Api
from art_adapt.decisions import Options, decide
from art_adapt.errors import Refusal
from art_adapt.source import Source
from art_adapt.survey.model import Survey
from art_adapt.survey.survey import survey


@dataclass(frozen=True)
class Dialect:
    """How one API is spelled: the imports, a client, a call of it, and how its answer is read."""

    name: str
    api: Api
    imports: str
    client: str
    create: str
    acreate: str
    messages: str
    text: str  # of ``reply``
    piece: str  # of ``chunk``
    tool: str  # the name of the tool that ``call`` asks for
    more: str = ""

    def spelled(self, agent: str) -> str:
        """``agent`` in this dialect: capitals are what dialects spell differently."""
        text = dedent(agent)
        for word, spelling in self.words.items():
            text = text.replace(word, spelling)
        return text

    @property
    def words(self) -> Mapping[str, str]:
        return {
            "ACREATE": self.acreate,
            "CREATE": self.create,
            "CLIENT": self.client,
            "MESSAGES": self.messages,
            "MORE": self.more,
            "TEXT": self.text,
            "PIECE": self.piece,
            "TOOL": self.tool,
        }


CHAT = Dialect(
    name="chat",
    api=Api.CHAT,
    imports="from openai import AsyncOpenAI, OpenAI",
    client="OpenAI()",
    create="client.chat.completions.create",
    acreate="client.chat.completions.create",
    messages="messages",
    text="reply.choices[0].message.content",
    piece="chunk.choices[0].delta.content",
    tool="call.function.name",
)
RESPONSES = Dialect(
    name="responses",
    api=Api.RESPONSES,
    imports="from openai import AsyncOpenAI, OpenAI",
    client="OpenAI()",
    create="client.responses.create",
    acreate="client.responses.create",
    messages="input",
    text="reply.output_text",
    piece="chunk.delta",
    tool="call.name",
)
LITELLM = Dialect(
    name="litellm",
    api=Api.LITELLM,
    imports="import litellm",
    client="object()",
    create="litellm.completion",
    acreate="litellm.acompletion",
    messages="messages",
    text="reply.choices[0].message.content",
    piece="chunk.choices[0].delta.content",
    tool="call.function.name",
)
LITELLM_BY_NAME = Dialect(
    name="litellm-by-name",
    api=Api.LITELLM,
    imports="from litellm import acompletion, completion",
    client="object()",
    create="completion",
    acreate="acompletion",
    messages="messages",
    text="reply.choices[0].message.content",
    piece="chunk.choices[0].delta.content",
    tool="call.function.name",
)
INSTRUCTOR = Dialect(
    name="instructor",
    api=Api.CHAT,
    imports="import instructor\nfrom answers import Answer",
    client="instructor.from_provider('openai/gpt-4o')",
    create="client.create",
    acreate="client.create",
    messages="messages",
    text="reply.text",
    piece="chunk.text",
    tool="call.function.name",
    more=", response_model=Answer",
)
INSTRUCTOR_RESPONSES = Dialect(
    name="instructor-responses",
    api=Api.RESPONSES,
    imports="import instructor\nfrom answers import Answer",
    client="instructor.from_provider('openai/gpt-4o')",
    create="client.responses.create",
    acreate="client.responses.create",
    messages="input",
    text="reply.text",
    piece="chunk.text",
    tool="call.name",
    more=", response_model=Answer",
)
# The same where nothing but the arguments says which library the client is from.
CHAT_UNNAMED = Dialect(**{**vars(CHAT), "name": "chat-unnamed", "imports": ""})
RESPONSES_UNNAMED = Dialect(
    **{**vars(RESPONSES), "name": "responses-unnamed", "imports": ""}
)
INSTRUCTOR_UNNAMED = Dialect(
    **{
        **vars(INSTRUCTOR),
        "name": "instructor-unnamed",
        "imports": "from answers import Answer",
        "client": "make_client()",
    }
)
DIALECTS = (
    CHAT,
    CHAT_UNNAMED,
    RESPONSES,
    RESPONSES_UNNAMED,
    LITELLM,
    LITELLM_BY_NAME,
    INSTRUCTOR,
    INSTRUCTOR_RESPONSES,
    INSTRUCTOR_UNNAMED,
)


@dataclass(frozen=True)
class Agent:
    """An agent with the capitals that a dialect spells, and what there is to find in it.

    ``exits``: the answers, also with capitals. ``refused``: why there is no train module.
    """

    text: str
    entry: str | None
    exits: tuple[str, ...]
    policy: int = 1
    auxiliary: int = 0
    loop: str | None = None
    threads: tuple[str, ...] = ()
    tools: str | None = None
    streams: bool = False
    conversation: str | None = "the local list messages"
    refused: str = ""


AGENTS = {
    "a tool loop in a function": Agent(
        """
        client = CLIENT

        REGISTRY = {}

        def ask_me(question):
            messages = [question]
            for turn in range(8):
                reply = CREATE(model="m", MESSAGES=messages, tools=REGISTRY MORE)
                calls = [item for item in reply.calls if item.type == 'function_call']
                if not calls:
                    return TEXT
                for call in calls:
                    messages.append(REGISTRY[TOOL]())
            return "no answer"

        def ask_twice(question):
            reply = CREATE(model="m", MESSAGES=[question] MORE)
            return TEXT
        """,
        entry="ask_me",
        exits=("TEXT", "'no answer'"),
        policy=2,
        loop="for turn in range(8)",
        tools="looked up in REGISTRY",
    ),
    "a class": Agent(
        """
        class Agent:
            def __init__(self, client, goal):
                self.client = client
                self.messages = [goal]

            def _step(self):
                client = self.client
                return CREATE(model="m", MESSAGES=self.messages MORE)

            def solve(self, task):
                self.messages.append(task)
                while len(self.messages) < 9:
                    reply = self._step()
                    self.messages.append(reply)
                return TEXT
        """,
        entry="Agent.solve",
        exits=("TEXT",),
        loop="while len(self.messages) < 9",
        conversation="the attribute self.messages",
    ),
    "a fallback in an except clause": Agent(
        """
        client = CLIENT

        def run(task):
            messages = [task]
            try:
                reply = CREATE(model="large", MESSAGES=messages MORE)
                return TEXT
            except ValueError:
                return "no answer"
            except TimeoutError:
                reply = CREATE(model="small", MESSAGES=messages MORE)
                return TEXT
        """,
        entry="run",
        exits=("TEXT", "TEXT"),
        policy=2,
    ),
    "a fallback through a helper": Agent(
        """
        client = CLIENT

        def _complete(messages, model="large"):
            return CREATE(model=model, MESSAGES=messages MORE)

        def run(task):
            try:
                reply = _complete([task])
                return TEXT
            except ValueError:
                return "no answer"
            except TimeoutError:
                reply = _complete([task], model="small")
                return TEXT
        """,
        entry="run",
        exits=("TEXT", "TEXT"),
        conversation="the parameter messages",
    ),
    "a judge": Agent(
        """
        client = CLIENT

        def run(task):
            messages = [task]
            reply = CREATE(model="m", MESSAGES=messages MORE)
            return TEXT

        def judge_answer(text):
            reply = CREATE(model="another", MESSAGES=[text] MORE)
            return TEXT
        """,
        entry="run",
        exits=("TEXT",),
        auxiliary=1,
    ),
    "a judge in a loop": Agent(
        """
        client = CLIENT

        def run(task):
            messages = [task]
            reply = CREATE(model=MODEL, MESSAGES=messages MORE)
            for attempt in range(3):
                verdict = CREATE(model=JUDGE_MODEL, MESSAGES=[reply] MORE)
            return TEXT
        """,
        entry="run",
        exits=("TEXT",),
        auxiliary=1,
    ),
    "a helper that only makes the call": Agent(
        """
        client = CLIENT

        def call_llm(messages):
            reply = CREATE(model="m", MESSAGES=messages MORE)
            return TEXT

        def run(task):
            messages = [task]
            while True:
                text = call_llm(messages)
                if text:
                    return text

        def main():
            run("a task")
        """,
        entry="run",
        exits=("text",),
        loop="while True",
        conversation="the parameter messages",
    ),
    "streamed": Agent(
        """
        client = CLIENT

        def run(task):
            messages = [task]
            text = ""
            for chunk in CREATE(model="m", MESSAGES=messages, stream=True MORE):
                text += PIECE
            return text
        """,
        entry="run",
        exits=("text",),
        streams=True,
    ),
    "streamed to the terminal": Agent(
        """
        client = CLIENT

        def run(task):
            messages = [task]
            for chunk in CREATE(model="m", MESSAGES=messages, stream=True MORE):
                print(PIECE, end="")
        """,
        entry="run",
        exits=(),
        streams=True,
    ),
    "printed": Agent(
        """
        client = CLIENT

        def run(task):
            messages = [task]
            reply = CREATE(model="m", MESSAGES=messages MORE)
            print("Agent:", TEXT)
        """,
        entry="run",
        exits=("TEXT",),
    ),
    "a thread pool": Agent(
        """
        from concurrent.futures import ThreadPoolExecutor
        from functools import partial

        client = CLIENT

        def ask(question):
            return CREATE(model="m", MESSAGES=[question] MORE)

        def run(task):
            messages = [task]
            with ThreadPoolExecutor() as pool:
                pool.submit(print, task)
                pool.submit(ask, task)
                pool.submit(CREATE, model="m", MESSAGES=messages MORE)
                pool.submit(partial(CREATE, model="m", MESSAGES=messages MORE))
                pool.submit(lambda: CREATE(model="m", MESSAGES=messages MORE))
                reply = pool.submit(lambda: ask(task)).result()
            return TEXT
        """,
        entry="run",
        exits=("TEXT",),
        policy=4,
        threads=("ask", "CREATE", "partial", "lambda: CREATE", "lambda: ask(task)"),
        conversation=None,
    ),
    "threads started elsewhere": Agent(
        """
        import threading

        client = CLIENT

        def run(task):
            messages = [task]
            reply = CREATE(model="m", MESSAGES=messages MORE)
            return TEXT

        def warm_up():
            threading.Thread(target=lambda: CREATE(model="m", MESSAGES=[] MORE)).start()
        """,
        entry="run",
        exits=("TEXT",),
        policy=2,
        threads=("lambda: CREATE",),
        conversation=None,
    ),
    "async": Agent(
        """
        client = CLIENT

        async def run(task):
            messages = [task]
            while True:
                reply = await ACREATE(model="m", MESSAGES=messages MORE)
                if TEXT:
                    return TEXT
        """,
        entry="run",
        exits=("TEXT",),
        loop="while True",
    ),
    "through a partial": Agent(
        """
        from functools import partial

        client = CLIENT

        def run(task):
            messages = [task]
            ask = partial(CREATE, model="m", MESSAGES=messages MORE)
            reply = ask()
            return TEXT
        """,
        entry="run",
        exits=("TEXT",),
    ),
    "through a helper that retries": Agent(
        """
        import asyncio

        client = CLIENT

        async def run(task):
            messages = [task]
            for attempt in range(3):
                reply = await asyncio.to_thread(CREATE, model="m", MESSAGES=messages MORE)
            return TEXT
        """,
        entry="run",
        exits=("TEXT",),
    ),
    "at module level": Agent(
        """
        client = CLIENT

        messages = ["a task"]
        reply = CREATE(model="m", MESSAGES=messages MORE)
        print(TEXT)
        """,
        entry=None,
        exits=(),
        conversation="the local list messages",
        refused="the agent runs at module level",
    ),
    "two that are as likely": Agent(
        """
        client = CLIENT

        def run_one(task):
            while True:
                reply = CREATE(model="m", MESSAGES=[task] MORE)
                return TEXT

        def run_two(task):
            while True:
                reply = CREATE(model="m", MESSAGES=[task] MORE)
                return TEXT
        """,
        entry=None,
        exits=(),
        policy=2,
        loop="while True",
        conversation="written in the call",
        refused="several entry points: 2 functions",
    ),
}


def surveyed(dialect: Dialect, agent: Agent) -> Survey:
    text = f"{dialect.imports}\n{dialect.spelled(agent.text)}"
    return survey([Source(Path("/nowhere/agent.py"), text.encode())])


def cases() -> list[object]:
    return [
        pytest.param(dialect, agent, id=f"{name}-{dialect.name}".replace(" ", "-"))
        for name, agent in AGENTS.items()
        for dialect in DIALECTS
    ]


@pytest.mark.parametrize(("dialect", "agent"), cases())
def test_dialects_are_surveyed_alike(dialect: Dialect, agent: Agent) -> None:
    found = surveyed(dialect, agent)
    assert {call.api for call in found.calls} == {dialect.api}
    assert all(call.supported for call in found.calls)
    assert [bool(call.model) for call in found.calls] == [True] * len(found.calls)
    policy = [call for call in found.calls if call.role == "policy"]
    assert len(policy) == agent.policy
    assert len(found.calls) - len(policy) == agent.auxiliary
    assert any(call.streams for call in policy) is agent.streams
    if agent.conversation is not None:
        assert policy[0].conversation == agent.conversation
    headers = {call.loop.header for call in policy if call.loop is not None}
    assert headers == ({agent.loop} if agent.loop else set())
    (file,) = found.files
    assert (file.tool_execution.how if file.tool_execution else None) == agent.tools
    threads = [thread.function for thread in file.threads]
    assert len(threads) == len(agent.threads)
    for thread, expected in zip(threads, agent.threads, strict=True):
        assert thread.startswith(dialect.spelled(expected))


@pytest.mark.parametrize(("dialect", "agent"), cases())
def test_dialects_are_decided_alike(dialect: Dialect, agent: Agent) -> None:
    found = surveyed(dialect, agent)
    if agent.refused:
        with pytest.raises(Refusal, match=agent.refused):
            decide(found, Options())
        return
    decided = decide(found, Options())
    assert decided.entry is not None and decided.entry.name == agent.entry
    assert len(decided.policy) == agent.policy
    assert len(decided.auxiliary) == agent.auxiliary
    exits = [exit_.answer for exit_ in decided.exits]
    assert exits == [dialect.spelled(answer) for answer in agent.exits]
