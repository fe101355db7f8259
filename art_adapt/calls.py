"""The table of completion calls: every kind of call that asks a model for a completion.

Each step of the survey asks this table instead of testing for a library's names itself,
so that an agent gets the same treatment whichever API it speaks. A new kind of call is one
more row in ``KINDS`` (and a module of the recorder that knows how to answer it).

The table imports nothing but the standard library: the bytes filter of ``source.py``, the
rules and the recorder can read it as well.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

DEFAULT_KEY = "OPENAI_API_KEY"  # the openai SDK reads it without a word in the agent
ANY_KEY = "any text will do if only the model in training is asked"


class Api(StrEnum):
    """The API that a completion call speaks."""

    CHAT = "chat.completions"
    RESPONSES = "responses"
    LITELLM = "litellm"
    TEXT = "completions"
    FRAMEWORK = "a framework"


@dataclass(frozen=True)
class Method:
    """A method or function that asks for a completion.

    ``streams``: it streams without being given ``stream=True``. ``is_async``: None where
    the client decides. ``needs``: an argument without which the method is another
    library's.
    """

    name: str
    streams: bool = False
    is_async: bool | None = None
    needs: str | None = None


@dataclass(frozen=True)
class CallKind:
    """One row of the table: how to recognise and read a kind of completion call.

    A call belongs to a row if it goes through ``resource`` of a client (an empty
    ``resource`` stands for any object), if it is a function of ``module``, or if it is a
    method of an object that one of ``constructors`` makes. An import of one of
    ``libraries`` confirms it; without that import, the arguments have to.
    """

    api: Api
    libraries: tuple[str, ...]
    methods: tuple[Method, ...]
    # Names of the argument that holds the conversation.
    messages: tuple[str, ...]
    # How the answer's text is read, and how the pieces of a streamed answer are: the last
    # attributes of the expression.
    answers: tuple[str, ...]
    pieces: tuple[str, ...] = ()
    # How the name of a requested tool is read; trusted only in a file that contains one of
    # ``tool_words``, if there are any.
    tool_names: tuple[str, ...] = ()
    tool_words: tuple[str, ...] = ()
    # Names of the positional arguments, in order.
    positional: tuple[str, ...] = ()
    # The attributes from a client to the object with the methods.
    resource: tuple[str, ...] = ()
    resource_classes: tuple[str, ...] = ()
    clients: tuple[str, ...] = ()
    module: str | None = None
    constructors: tuple[str, ...] = ()
    # Each of these sets of arguments confirms the kind; the empty set always does.
    proofs: tuple[frozenset[str], ...] = ()
    # Whether a client's usual name confirms the kind as well.
    proven_by_client: bool = False
    # A call with keyword arguments must have one of these, if there are any.
    expected: frozenset[str] = frozenset()
    # The end of the API's URL, for calls over raw HTTP.
    url: str | None = None
    # A file that makes such a call matches one of these regular expressions.
    words: tuple[str, ...] = ()
    # Whether the recorder can send it to the model in training.
    supported: bool = True

    @property
    def class_names(self) -> tuple[str, ...]:
        """Return the names of the SDK's resource classes, without their modules."""
        return tuple(path.rpartition(".")[2] for path in self.resource_classes)

    def method(self, name: str, arguments: frozenset[str]) -> Method | None:
        """Return the method called ``name``, if ``arguments`` has what it needs."""
        for method in self.methods:
            if method.name == name and (not method.needs or method.needs in arguments):
                return method
        return None

    def is_confirmed(self, arguments: frozenset[str], imported: bool) -> bool:
        """True if a call with these keyword arguments is of this kind.

        ``**`` stands for arguments that are not written out. ``imported``: the file
        imports one of the libraries.
        """
        known = not self.expected or not arguments or arguments & self.expected
        proven = imported or any(proof <= arguments for proof in self.proofs)
        return bool(known) and proven


@dataclass(frozen=True)
class UnrecordedCall:
    """Calls that ask a model and that no hook can record.

    ``what``: how a message calls them (None: by their own name). ``instead``: what to use
    in their place.
    """

    names: tuple[str, ...]
    what: str | None
    instead: str
    words: tuple[str, ...] = ()


# Views of an SDK resource, which have the resource's own methods.
VIEWS = ("with_raw_response", "with_streaming_response")
# Namespaces that repeat the client's resources: client.beta.chat.completions.
NAMESPACES = ("beta",)
# What else a client asks for, which no engine for a model in training serves (openai 3.3.0,
# _client.py; vLLM serves what asks for text).
NOT_OF_POLICY = frozenset(
    [
        *("audio", "batches", "containers", "conversations", "embeddings", "evals"),
        *("files", "fine_tuning", "images", "moderations", "uploads", "vector_stores"),
        "videos",
    ]
)
# The module whose attributes are resource classes, not resources of a client.
RESOURCE_MODULE = "openai.resources"
# instructor's argument: the call returns an instance of this class, not a completion.
RESPONSE_MODEL = "response_model"

_CREATE, _PARSE = Method("create"), Method("parse")
_STREAM = Method("stream", streams=True)
_INSTRUCTOR = (
    Method("create", needs=RESPONSE_MODEL),
    Method("create_with_completion", needs=RESPONSE_MODEL),
    Method("create_partial", streams=True, needs=RESPONSE_MODEL),
    Method("create_iterable", streams=True, needs=RESPONSE_MODEL),
)
_OPENAI_CLIENTS = ("OpenAI", "AsyncOpenAI", "AzureOpenAI", "AsyncAzureOpenAI")
_INSTRUCTOR_CLIENTS = ("Instructor", "AsyncInstructor")
_CHAT_TOOLS = ("function.name", "function_call.name")
_RESPONSES_TOOLS = (
    '"function_call"',
    "'function_call'",
    "ResponseFunctionToolCall",
)

CHAT = CallKind(
    Api.CHAT,
    libraries=("openai", "langfuse"),
    methods=(_CREATE, _PARSE, _STREAM, *_INSTRUCTOR),
    messages=("messages",),
    answers=("content", "parsed"),
    pieces=("delta.content",),
    tool_names=_CHAT_TOOLS,
    resource=("chat", "completions"),
    resource_classes=(
        "openai.resources.chat.completions.Completions",
        "openai.resources.chat.completions.AsyncCompletions",
    ),
    clients=_OPENAI_CLIENTS,
    proofs=(frozenset(),),
    url="/chat/completions",
    words=("completions",),
)
RESPONSES = CallKind(
    Api.RESPONSES,
    libraries=("openai", "langfuse", "instructor"),
    methods=(_CREATE, _PARSE, _STREAM, *_INSTRUCTOR),
    messages=("input",),
    answers=("output_text", "output_parsed", "content.text", "content.parsed"),
    pieces=("delta",),
    tool_names=("name",),
    tool_words=_RESPONSES_TOOLS,
    resource=("responses",),
    resource_classes=(
        "openai.resources.responses.Responses",
        "openai.resources.responses.AsyncResponses",
    ),
    clients=_OPENAI_CLIENTS,
    # Other objects have a responses.create() too, so the arguments have to tell.
    proofs=(frozenset({"input", "model"}),),
    proven_by_client=True,
    expected=frozenset({"**", "input", "model", "previous_response_id", "prompt"}),
    url="/v1/responses",
    words=(r"\.responses\b",),
)
INSTRUCTOR_RESPONSES = CallKind(
    Api.RESPONSES,
    libraries=("instructor",),
    methods=_INSTRUCTOR,
    messages=("input",),
    answers=(),
    clients=_INSTRUCTOR_CLIENTS,
    proofs=(frozenset({"input"}),),
    expected=frozenset({"input"}),
    words=("instructor", RESPONSE_MODEL),
)
INSTRUCTOR = CallKind(
    Api.CHAT,
    libraries=("instructor",),
    methods=_INSTRUCTOR,
    messages=("messages",),
    answers=(),
    clients=_INSTRUCTOR_CLIENTS,
    proofs=(frozenset({"messages"}), frozenset({"**"})),
    words=("instructor", RESPONSE_MODEL),
)
LITELLM = CallKind(
    Api.LITELLM,
    libraries=("litellm",),
    methods=(
        Method("completion", is_async=False),
        Method("acompletion", is_async=True),
    ),
    messages=("messages",),
    answers=("content", "parsed"),
    pieces=("delta.content",),
    tool_names=_CHAT_TOOLS,
    positional=("model", "messages"),
    module="litellm",
    constructors=("litellm.Router", "litellm.router.Router"),
    words=("litellm",),
)
TEXT = CallKind(
    Api.TEXT,
    libraries=("openai", "langfuse"),
    methods=(_CREATE,),
    messages=(),
    answers=("choices.text",),
    resource=("completions",),
    resource_classes=(
        "openai.resources.completions.Completions",
        "openai.resources.completions.AsyncCompletions",
    ),
    clients=_OPENAI_CLIENTS,
    url="/v1/completions",
    words=("completions",),
    supported=False,
)
# The first row that fits counts: rows with a resource come before rows for any object, and
# client.chat.completions before client.completions.
KINDS = (LITELLM, CHAT, RESPONSES, INSTRUCTOR_RESPONSES, INSTRUCTOR, TEXT)

UNRECORDED = (
    UnrecordedCall(
        (
            "openai.ChatCompletion.create",
            "openai.ChatCompletion.acreate",
            "openai.Completion.create",
            "openai.Completion.acreate",
        ),
        "the API of openai 0.x",
        "upgrade to openai 2 or newer: call client.chat.completions.create there",
        words=("ChatCompletion",),
    ),
    UnrecordedCall(
        (
            "litellm.aresponses",
            "litellm.atext_completion",
            "litellm.batch_completion",
            "litellm.responses",
            "litellm.text_completion",
        ),
        None,
        "use litellm.completion there",
    ),
)

# Arguments of responses.create by which OpenAI keeps a part of the request itself.
SERVER_STATE = {
    "background": "a response made in the background",
    "conversation": "a conversation that OpenAI keeps",
    "prompt": "a prompt template that OpenAI keeps",
}

METHOD_NAMES = frozenset(method.name for kind in KINDS for method in kind.methods)
CLIENT_CLASSES = frozenset(name for kind in KINDS for name in kind.clients)
ANSWERS = frozenset(answer for kind in KINDS for answer in kind.answers)
PIECES = frozenset(piece for kind in KINDS for piece in kind.pieces)
URLS = tuple(dict.fromkeys(kind.url for kind in KINDS if kind.url is not None))
WORDS = tuple(
    dict.fromkeys(word for row in (*KINDS, *UNRECORDED) for word in row.words)
)


def is_function(function: str, name: str) -> bool:
    """Tell whether a name means a function that asks: its own, or of the class that it is in."""
    return (
        function == name
        or function.endswith(f".{name}")
        or function.startswith(f"{name}.")
    )
