"""Finds where an agent runs a framework that asks the model through clients of its own.

Nothing is hooked there: in a rollout the recorder sees what any client of the openai SDK
asks (``recording/every_client.py``).
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from art_adapt.survey.apis import Api, CallKind, Method
from art_adapt.survey.completion_calls import FoundCall
from art_adapt.survey.nodes import dotted
from art_adapt.survey.packages import import_roots, module_file
from art_adapt.survey.project import Project
from art_adapt.survey.resolution import lineage, resolve
from art_adapt.survey.syntax import MODULE_LEVEL, Import, Syntax, return_values

# What the names of objects say that have such methods, and ask no model.
PASSIVE = re.compile(r"Prompt|Parser|Retriever|Loader|Splitter|Embed|Store|Memory|Tool")
DEEPEST = 12  # values, and functions that return them, one through the other


@dataclass(frozen=True)
class Framework:
    """A framework whose requests end in the openai SDK.

    Attributes:
        name: as messages call it.
        modules: its top-level packages.
        runs: methods of its objects that ask a model.
        called: whether its objects are called themselves.
        models: what its objects for a bare model are made by; those that run agents
            come first.
    """

    name: str
    modules: tuple[str, ...]
    runs: tuple[str, ...]
    called: bool = False
    models: tuple[str, ...] = ()

    @property
    def kind(self) -> CallKind:
        methods = tuple(Method(name) for name in (*self.runs, "__call__"))
        return CallKind(Api.FRAMEWORK, self.modules, methods, messages=(), answers=())


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
)
BY_MODULE = {module: each for each in FRAMEWORKS for module in each.modules}
METHODS = frozenset(name for each in FRAMEWORKS for name in each.runs)


def imported_frameworks(syntax: Syntax) -> Iterator[tuple[ast.stmt, Framework]]:
    """Yield the frameworks that a file imports, with the import."""
    for imported in syntax.imports.values():
        found = BY_MODULE.get(imported.module.split(".")[0])
        if found is not None and not imported.level and not _is_local(syntax, imported):
            yield imported.node, found


def find_framework_calls(project: Project) -> dict[Syntax, list[FoundCall]]:
    """Find the calls that run a framework's agents, or else its bare models."""
    used = any(any(imported_frameworks(s)) for s in project.files.values())
    found: list[tuple[FoundCall, bool]] = []
    for syntax in project.files.values() if used else ():
        found += _calls_in(project, syntax)
    agents = [call for call, is_model in found if not is_model]
    chosen = agents or [call for call, _ in found]
    calls: dict[Syntax, list[FoundCall]] = {}
    for call in chosen:
        calls.setdefault(call.syntax, []).append(call)
    return calls


def _calls_in(project: Project, syntax: Syntax) -> Iterator[tuple[FoundCall, bool]]:
    """Yield the calls of a file, each with whether it asks a bare model."""
    for call in syntax.nodes:
        if not isinstance(call, ast.Call):
            continue
        callee = call.func
        if isinstance(callee, ast.Attribute) and callee.attr in METHODS:
            made = _made_by(project, syntax, callee.value)
            if made is None or callee.attr not in made.framework.runs:
                continue
            client, method = callee.value, callee.attr
        elif isinstance(callee, ast.Attribute | ast.Name | ast.Call):
            made = _instance(project, syntax, callee)
            if made is None or not made.framework.called:
                continue
            client, method = callee, "__call__"
        else:
            continue
        kind = made.framework.kind
        form = kind.method(method, frozenset())
        assert form is not None
        found = FoundCall(syntax, callee, call, client, kind, form, False, True)
        yield found, made.is_model


@dataclass(frozen=True)
class _Made:
    """Where an object comes from, and whether it is a bare model."""

    framework: Framework
    is_model: bool


def _instance(project: Project, syntax: Syntax, value: ast.expr) -> _Made | None:
    """Tell which framework an object comes from that is called itself."""
    if isinstance(value, ast.Call):
        return _made_by(project, syntax, value)
    made = (assigned for _, assigned in _assigned(project, syntax, value))
    if not any(isinstance(each, ast.Call) for each in made):
        return None  # a class or a function: calling it makes an object
    return _made_by(project, syntax, value)


def _imported(syntax: Syntax, expression: ast.expr) -> Framework | None:
    """Return the framework that a name is imported from, or leads into."""
    head = (dotted(expression) or "").partition(".")[0]
    imported = syntax.imports.get(head)
    if imported is None or imported.level:
        return None
    found = BY_MODULE.get(imported.module.split(".")[0])
    return None if found is None or _is_local(syntax, imported) else found


def _made_by(
    project: Project, syntax: Syntax, value: ast.expr, depth: int = 0
) -> _Made | None:
    """Tell which framework makes a value: by its classes, or by what they return."""
    if depth > DEEPEST:
        return None
    if isinstance(value, ast.Await):
        return _made_by(project, syntax, value.value, depth + 1)
    if (framework := _imported(syntax, value)) is not None:
        name = syntax.qualified(value) or ""
        if PASSIVE.search(name):
            return None
        return _Made(framework, name.rpartition(".")[2] in framework.models)
    if isinstance(value, ast.Call):
        made = _made_by(project, syntax, value.func, depth + 1)
        made = made or _derived(project, syntax, value.func)
        return made or _returned(project, syntax, value.func, depth)
    parts: list[ast.expr] = []
    if isinstance(value, ast.BinOp):  # prompt | model
        parts = [value.right, value.left]
    elif isinstance(value, ast.IfExp):
        parts = [value.body, value.orelse]
    elif isinstance(value, ast.BoolOp):
        parts = value.values
    for part in parts:
        if (made := _made_by(project, syntax, part, depth + 1)) is not None:
            return made
    for annotation in syntax.annotations_of(value):  # agent: Agent
        if (framework := _imported(syntax, annotation)) is not None:
            return _Made(framework, False)
    for place, assigned in _assigned(project, syntax, value):
        if (made := _made_by(project, place, assigned, depth + 1)) is not None:
            return made
    if isinstance(value, ast.Attribute):  # graph.compile, llm.bind_tools
        return _made_by(project, syntax, value.value, depth + 1)
    return None


def _assigned(
    project: Project, syntax: Syntax, value: ast.expr
) -> Iterator[tuple[Syntax, ast.expr]]:
    """Yield what a name is assigned, here or in the file that it is imported from."""
    for assigned in syntax.values_of(value):
        yield syntax, assigned
    head, _, rest = (dotted(value) or "").partition(".")
    if head not in syntax.imports:
        return
    located = project.files.get(project.located(syntax, head) or Path())
    if located is None:
        return
    name = syntax.imports[head].attribute or rest  # from graph import app; graph.app
    for where, assigned in located.assignments.get(name, ()):
        if where == MODULE_LEVEL:
            yield located, assigned


def _derived(project: Project, syntax: Syntax, made_by: ast.expr) -> _Made | None:
    """Tell which framework's class a class of the project is derived from."""
    found = project.class_named(syntax, dotted(made_by) or "")
    for place, name in lineage(project, *found) if found is not None else ():
        for base in place.classes[name].bases:
            if (framework := _imported(place, base)) is not None:
                return _Made(framework, False)
    return None


def _returned(
    project: Project, syntax: Syntax, function: ast.expr, depth: int
) -> _Made | None:
    for path, qualname in resolve(project, syntax, function):
        place = project.files[path]
        for value in return_values(place, qualname):
            if (made := _made_by(project, place, value, depth + 1)) is not None:
                return made
    return None


def _is_local(syntax: Syntax, imported: Import) -> bool:
    """Whether the name belongs to the project, as ``agents`` often does.

    A folder of examples that is named after the framework does not.
    """
    top, path = imported.module.split(".")[0], syntax.source.path
    return any(
        module_file(root / top)
        or ((root / top).is_dir() and root / top not in path.parents)
        for root in import_roots(path)
    )
