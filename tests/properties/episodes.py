"""Random episodes: what agents do to their conversations, as data.

Texts, names and messages come from few words on purpose, so that conversations often
begin alike: the recorder has to tell them apart.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from hypothesis import strategies as st

Json = dict[str, Any]

TEXTS = ["one", "one two", "one two three", "two"]
# Of two streams that have said the same so far the recorder cannot tell which one the
# agent goes on from, so each begins with a word of its own.
STREAMED_TEXTS = ["{n}", "{n} one two", "{n} one two three"]
PARSABLE = '{"answer": "one"}'
USERS = ["go on", "and?"]
SYSTEMS = [None, "You are a.", "You are b."]
ARGUMENTS: list[Json] = [{}, {"at": "x", "b": [1]}, {"é": "\u2028"}]


def _tool(name: str) -> Json:
    # parse() and stream() take strict tools only.
    function = {"name": name, "parameters": {}, "strict": True}
    return {"type": "function", "function": function}


TOOLS: list[list[Json] | None] = [None, [_tool("look")], [_tool("look"), _tool("go")]]
SPELLINGS = [
    "object",
    "dump",
    "changed after",
    "without nulls",
    "by hand",
    "objects inside",
    "spelled anew",
    "text only",
    "text only",  # twice: it matters only where there are tool calls
    "edited",
]
FORMS = ["create", "raw", "parse"]
STREAMED = ["streamed", "raw streamed", "stream helper"]
FAULTS: list[Json] = [
    {"error": 500},
    {"error": 429},
    {"error": 400},
    {"disconnect": "before"},
    {"disconnect": "middle"},
    {"drop": True},
]


@dataclass(frozen=True)
class Leaving:
    """The agent reads no more than ``chunks`` chunks of a stream."""

    chunks: int
    way: str  # "break", "close", "raise", "left open"


@dataclass(frozen=True)
class Turn:
    """The model is asked, its answer appended in some spelling, and a user message."""

    form: str
    reply: Json
    n: int = 1
    taken: int = 0  # which of the n choices the conversation goes on with
    spelling: str = "object"
    user: str = USERS[0]
    faults: tuple[Json, ...] = ()  # what the server does to the first attempts
    retries: int = 0  # the SDK's own
    patience: float | None = None  # seconds, for the first attempt of the agent
    gives_up: bool = False  # does not ask again what it had no patience for
    notices: bool = True  # asks again where a stream ended silently in its middle
    leaving: Leaving | None = None
    pause: float = 0.0  # between the chunks, for the agent


@dataclass(frozen=True)
class Meanwhile:
    """A stream is read to ``chunks``, then the steps run, then it is read to its end."""

    turn: Turn
    steps: tuple[Step, ...]
    chunks: int
    same_conversation: bool


@dataclass(frozen=True)
class NewTools:
    tools: int


@dataclass(frozen=True)
class NewSystem:
    text: str | None
    in_place: bool


@dataclass(frozen=True)
class Truncation:
    dropped: int


@dataclass(frozen=True)
class Redaction:
    """A message that was sent long ago changes where it lies."""

    at: int


@dataclass(frozen=True)
class Branch:
    """The same prefix goes on in two ways; the conversation goes on with the first."""

    first: tuple[Step, ...]
    second: tuple[Step, ...]
    where: str


@dataclass(frozen=True)
class SubAgent:
    """A conversation of its own, while this one waits or, aside, goes on."""

    system: str | None
    tools: int
    steps: tuple[Step, ...]
    where: str


Step = (
    Turn | Meanwhile | NewTools | NewSystem | Truncation | Redaction | Branch | SubAgent
)
# "aside" is a task of async code and a carried thread of sync code.
PLACES = st.sampled_from(["here", "aside", "thread"])


TOOL_CALLS = st.lists(
    st.builds(
        lambda name, arguments: {"name": name, "arguments": arguments},
        st.sampled_from(["look", "go"]),
        st.sampled_from(ARGUMENTS),
    ),
    max_size=2,
)


@st.composite
def replies(draw: st.DrawFn, n: int, *, form: str) -> Json:
    calls = draw(TOOL_CALLS)
    words = STREAMED_TEXTS if form in STREAMED else TEXTS
    if form == "parse":
        words = [*TEXTS[:1], PARSABLE]
    texts = st.sampled_from([*words, ""] if calls else words)
    reply: Json = {"contents": draw(st.lists(texts, min_size=n, max_size=n))}
    return reply | ({"tool_calls": calls} if calls else {})


@st.composite
def turns(draw: st.DrawFn) -> Turn:
    form = draw(st.sampled_from([*FORMS, *STREAMED]))
    n = draw(st.sampled_from([1, 1, 1, 2, 3]))
    faults = tuple(draw(st.lists(st.sampled_from(FAULTS), max_size=2)))
    # The SDK waits half a second before it tries a broken connection again.
    retries = 2 if all("error" in fault for fault in faults) else 0
    reply = draw(replies(n, form=form))
    leaving, pause = None, 0.0
    if form in STREAMED:
        ways = st.sampled_from(["break", "close", "raise", "left open"])
        leaving = draw(st.none() | st.builds(Leaving, st.integers(0, 5), ways))
        pause = draw(st.sampled_from([0.0, 0.0, 0.001]))
        reply["pace"] = draw(st.sampled_from([0.0, 0.0, 0.001]))
    patience = draw(st.sampled_from([None, None, None, 0.0, 0.003, 0.008]))
    if patience is not None:
        retries = 0
        reply["delay"] = draw(st.sampled_from([0.0, 0.005]))
    return Turn(
        form=form,
        reply=reply,
        n=n,
        taken=draw(st.integers(0, n - 1)),
        spelling=draw(st.sampled_from(SPELLINGS)),
        user=draw(st.sampled_from(USERS)),
        faults=faults,
        retries=draw(st.sampled_from([0, retries])),
        patience=patience,
        gives_up=draw(st.booleans()),
        notices=draw(st.booleans()),
        leaving=leaving,
        pause=pause,
    )


SIMPLE = (
    st.builds(NewTools, st.integers(0, len(TOOLS) - 1)),
    st.builds(NewSystem, st.sampled_from(SYSTEMS), st.booleans()),
    st.builds(Truncation, st.integers(1, 3)),
    st.builds(Redaction, st.integers(0, 3)),
    st.builds(Redaction, st.integers(-4, -2)),  # what the model has just said
)


def steps(depth: int = 2) -> st.SearchStrategy[tuple[Step, ...]]:
    """What an agent does in one conversation; ``depth`` more may lie within it. Most
    often it takes a turn, and first of all.
    """
    if depth == 0:
        rest = st.lists(mostly_turns(*SIMPLE), max_size=2)
    else:
        inner = nested(steps(depth - 1))
        rest = st.lists(mostly_turns(*SIMPLE, *inner), min_size=depth, max_size=4)
    return st.builds(lambda turn, more: (turn, *more), turns(), rest)


def mostly_turns(*others: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """As many turns as other steps; ``one_of`` would count equal strategies once."""
    return st.booleans().flatmap(lambda other: st.one_of(*others) if other else turns())


def nested(
    inner: st.SearchStrategy[tuple[Step, ...]],
) -> tuple[st.SearchStrategy[Step], ...]:
    """The steps that hold steps."""
    tools = st.integers(0, len(TOOLS) - 1)
    stream = st.builds(
        Turn,
        form=st.sampled_from(STREAMED),
        reply=replies(1, form="streamed"),
        spelling=st.sampled_from(SPELLINGS),
    )
    return (
        st.builds(Branch, inner, inner, PLACES),
        st.builds(SubAgent, st.sampled_from(SYSTEMS), tools, inner, PLACES),
        st.builds(Meanwhile, stream, inner, st.integers(0, 4), st.booleans()),
    )


@dataclass(frozen=True)
class Episode:
    system: str | None
    tools: int
    steps: tuple[Step, ...]
    # Whether the rollout is opened around the event loop or within it.
    loop_within: bool


def episodes() -> st.SearchStrategy[Episode]:
    return st.builds(
        Episode,
        st.sampled_from(SYSTEMS),
        st.integers(0, len(TOOLS) - 1),
        steps(),
        st.booleans(),
    )
