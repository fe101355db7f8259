"""Finds where an agent runs a framework that asks the model through clients of its own.

Nothing is hooked there: in a rollout the recorder sees what any client of the openai SDK
asks (``recording/every_client.py``).
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from art_adapt.calls import Api, CallKind, Method
from art_adapt.code.classes import lineage
from art_adapt.code.nodes import dotted
from art_adapt.code.packages import is_of_project
from art_adapt.code.project import Project
from art_adapt.code.questions import DEEPEST
from art_adapt.code.syntax import Syntax
from art_adapt.code.values import Placed, steps
from art_adapt.survey.calls.completion_calls import FoundCall

# What the names of objects say that have such methods, and ask no model.
PASSIVE = re.compile(
    r"^(?!.*[Aa]gent$).*(Prompt|Parser|Retriever|Loader|Splitter|Embed|Store|Memory|Tool)"
)


@dataclass(frozen=True)
class Framework:
    """A framework whose requests end in the openai SDK.

    Attributes:
        name: as messages call it.
        modules: its packages.
        runs: methods of its objects that ask a model.
        called: whether its objects are called themselves.
        models: what its objects for a bare model are made by; those that run agents
            come first.
        through: the module that has it ask by the openai SDK; else it asks elsewhere.
    """

    name: str
    modules: tuple[str, ...]
    runs: tuple[str, ...]
    called: bool = False
    models: tuple[str, ...] = ()
    through: str = ""

    @property
    def kind(self) -> CallKind:
        names = (*self.runs, "__call__") if self.called else self.runs
        methods = tuple(map(Method, names))
        return CallKind(Api.FRAMEWORK, self.modules, methods, messages=(), answers=())


LITE_LLM = "google.adk.models.lite_llm"
FRAMEWORKS = (
    Framework(
        "LangChain or LangGraph",
        ("langgraph", "langchain", "langchain_openai", "langchain_core"),
        ("invoke", "ainvoke", "stream", "astream", "astream_events", "run", "arun"),
        models=("ChatOpenAI", "AzureChatOpenAI", "init_chat_model"),
    ),
    Framework(
        "the OpenAI Agents SDK",
        ("agents",),
        ("run", "run_sync", "run_streamed"),
    ),
    Framework(
        "Pydantic AI",
        ("pydantic_ai",),
        ("run", "run_sync", "run_stream", "iter"),
    ),
    Framework("CrewAI", ("crewai",), ("kickoff", "kickoff_async", "akickoff")),
    Framework(
        "AutoGen",
        ("autogen_agentchat", "autogen_ext", "autogen"),
        (
            "run",
            "run_stream",
            "on_messages",
            "initiate_chat",
            "a_initiate_chat",
            "generate_reply",
            "a_generate_reply",
        ),
    ),
    Framework("smolagents", ("smolagents",), ("run",), called=True),
    Framework(
        "LlamaIndex",
        ("llama_index",),
        ("run", "chat", "achat", "query", "aquery", "complete", "acomplete"),
    ),
    Framework("DSPy", ("dspy",), ("acall", "forward", "aforward"), called=True),
    Framework(
        "Agno",
        ("agno",),
        ("run", "arun", "print_response", "aprint_response"),
    ),
    Framework("Strands", ("strands",), ("invoke_async", "stream_async"), called=True),
    Framework("Qwen-Agent", ("qwen_agent",), ("run", "run_nonstream")),
    Framework(
        "mcp-agent",
        ("mcp_agent",),
        ("generate", "generate_str", "generate_structured"),
    ),
    Framework("Google's ADK", ("google.adk",), ("run", "run_async"), through=LITE_LLM),
)
BY_MODULE = {module: each for each in FRAMEWORKS for module in each.modules}
METHODS = frozenset(name for each in FRAMEWORKS for name in each.runs)


def imported_frameworks(syntax: Syntax) -> Iterator[tuple[ast.stmt, Framework]]:
    """Yield the frameworks that a file imports, with the import."""
    for name, framework in _frameworks_of(syntax).items():
        if _asks_by_sdk(framework, [syntax]):
            yield syntax.imports[name].node, framework


def _asks_by_sdk(framework: Framework, files: Iterable[Syntax]) -> bool:
    """Tell whether files have a framework ask by the openai SDK."""
    return not framework.through or any(
        imported.module == framework.through
        for syntax in files
        for imported in syntax.imports.values()
    )


def _frameworks_of(syntax: Syntax) -> dict[str, Framework]:
    """Return the frameworks that a file imports, by the names that it gives them."""
    found = {}
    for name, imported in syntax.imports.items():
        framework = _framework_of(imported.module)
        if imported.level or framework is None:
            continue
        attribute = imported.attribute or ""
        if not is_of_project(syntax.source.path, imported.module, attribute):
            found[name] = framework
    return found


def _framework_of(module: str) -> Framework | None:
    """Return the framework whose package a module is, or is in."""
    while module and module not in BY_MODULE:
        module = module.rpartition(".")[0]
    return BY_MODULE.get(module)


def find_framework_calls(project: Project) -> dict[Syntax, list[FoundCall]]:
    """Find the calls that run a framework's agents, or else its bare models."""
    files = project.files.values()
    imported = {
        syntax: {
            name: framework
            for name, framework in _frameworks_of(syntax).items()
            if _asks_by_sdk(framework, files)
        }
        for syntax in files
    }
    if not any(imported.values()):
        return {}
    origins = _Origins(project, imported)
    found = [each for syntax in imported for each in _calls_in(syntax, origins)]
    agents = [call for call, is_model in found if not is_model]
    calls: dict[Syntax, list[FoundCall]] = {}
    for call in agents or [call for call, _ in found]:
        calls.setdefault(call.syntax, []).append(call)
    return calls


def _calls_in(syntax: Syntax, origins: _Origins) -> Iterator[tuple[FoundCall, bool]]:
    """Yield the calls of a file, each with whether it asks a bare model."""
    for call in syntax.nodes:
        if not isinstance(call, ast.Call):
            continue
        callee = call.func
        if isinstance(callee, ast.Attribute) and callee.attr in METHODS:
            client, method = callee.value, callee.attr
            made = origins.of(syntax, client)
        else:
            client, method = callee, "__call__"
            is_object = origins.is_object(syntax, callee)  # else it makes one
            made = origins.of(syntax, callee) if is_object else None
        if made is None:
            continue
        kind = made.framework.kind
        form = kind.method(method, frozenset())
        if form is not None:
            found = FoundCall(syntax, callee, call, client, kind, form, False, True)
            yield found, made.is_model


@dataclass(frozen=True)
class _Made:
    """Where an object comes from, and whether it is a bare model."""

    framework: Framework
    is_model: bool


@dataclass(frozen=True)
class _Origins:
    """Which frameworks make the values of a project; each value is looked up once.

    ``imported`` are the frameworks that each file imports, by the names there.
    """

    project: Project
    imported: Mapping[Syntax, Mapping[str, Framework]]
    _known: dict[ast.expr, _Made | None] = field(default_factory=dict)

    def of(self, syntax: Syntax, value: ast.expr, depth: int = 0) -> _Made | None:
        """Tell which framework makes a value: by its classes, or by what they return."""
        if value not in self._known:
            if depth > DEEPEST:
                return None
            self._known[value] = None  # of one that is made of itself
            self._known[value] = self._look_up(syntax, value, depth + 1)
        return self._known[value]

    def is_object(self, syntax: Syntax, value: ast.expr) -> bool:
        """Tell whether a value is an object, and no class or function that makes one."""
        assigned = (each for _, each in steps(self.project, syntax, value))
        return any(isinstance(each, ast.Call) for each in (value, *assigned))

    def _look_up(self, syntax: Syntax, value: ast.expr, depth: int) -> _Made | None:
        if (framework := self._imported(syntax, value)) is not None:
            name = syntax.qualified(value) or ""
            if PASSIVE.search(name):
                return None
            return _Made(framework, name.rpartition(".")[2] in framework.models)
        for annotation in syntax.annotations_of(value):  # agent: Agent
            if (framework := self._imported(syntax, annotation)) is not None:
                return _Made(framework, False)
        for place, part in self._made_from(syntax, value):
            if (made := self.of(place, part, depth)) is not None:
                return made
        return self._derived(syntax, value) if isinstance(value, ast.Call) else None

    def _imported(self, syntax: Syntax, expression: ast.expr) -> Framework | None:
        """Return the framework that a name is imported from, or leads into."""
        head = (dotted(expression) or "").partition(".")[0]
        return self.imported[syntax].get(head)

    def _made_from(self, syntax: Syntax, value: ast.expr) -> Iterator[Placed]:
        """Yield what a value may be, or is made by, with the files of those."""
        if isinstance(value, ast.Call):
            yield syntax, value.func
        elif isinstance(value, ast.BinOp):  # prompt | model
            yield from ((syntax, part) for part in (value.right, value.left))
        yield from steps(self.project, syntax, value)
        if isinstance(value, ast.Attribute):  # graph.compile, llm.bind_tools
            yield syntax, value.value

    def _derived(self, syntax: Syntax, call: ast.Call) -> _Made | None:
        """Tell which framework's class a class of the project is derived from."""
        found = self.project.class_named(syntax, dotted(call.func) or "")
        for place, name in lineage(self.project, *found) if found is not None else ():
            for base in place.classes[name].bases:
                if (framework := self._imported(place, base)) is not None:
                    return _Made(framework, False)
        return None
