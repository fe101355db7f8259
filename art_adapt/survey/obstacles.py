"""Recognises what art-adapt does not handle, and says what works instead."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from art_adapt.source import Place
from art_adapt.survey.model import Obstacle
from art_adapt.survey.project import import_roots, module_file
from art_adapt.survey.syntax import Syntax

CHAT = "call client.chat.completions.create there"

FRAMEWORKS = {
    "langchain": (
        "LangChain",
        "give its ChatOpenAI the rollout's base_url, api_key and model, and record with art.langgraph",
    ),
    "langchain_openai": (
        "LangChain",
        "give its ChatOpenAI the rollout's base_url, api_key and model, and record with art.langgraph",
    ),
    "langgraph": (
        "LangGraph",
        "record with art.langgraph.wrap_rollout, which ART ships",
    ),
    "crewai": ("CrewAI", "adapt an agent that calls the OpenAI client itself"),
    "autogen": ("AutoGen", "adapt an agent that calls the OpenAI client itself"),
    "autogen_agentchat": (
        "AutoGen",
        "adapt an agent that calls the OpenAI client itself",
    ),
    "smolagents": ("smolagents", "adapt an agent that calls the OpenAI client itself"),
    "pydantic_ai": (
        "Pydantic AI",
        "give its OpenAIModel a client whose create is recorded, or adapt a plain loop",
    ),
    "agents": (
        "the OpenAI Agents SDK",
        "give it a chat-completions model with the rollout's base_url, or adapt a plain loop",
    ),
    "llama_index": ("LlamaIndex", "adapt an agent that calls the OpenAI client itself"),
    "dspy": ("DSPy", "adapt an agent that calls the OpenAI client itself"),
    "anthropic": (
        "the Anthropic client",
        "ART trains models behind an OpenAI-compatible API: " + CHAT,
    ),
}

PROCESSES = (
    "futures.ProcessPoolExecutor",
    "multiprocessing.Pool",
    "multiprocessing.Process",
)
PROCESS_ADVICE = (
    "another process",
    "a rollout does not reach into it, and a recorded call there raises: use threads or tasks",
)
LEGACY = ("openai.ChatCompletion", "openai.Completion")
LITELLM_OTHERS = (
    "litellm.aresponses",
    "litellm.atext_completion",
    "litellm.batch_completion",
    "litellm.responses",
    "litellm.text_completion",
)


def find_obstacles(syntax: Syntax) -> Iterator[Obstacle]:
    """Frameworks by their import, calls of other kinds by their shape; one of a kind is
    enough.
    """
    said: set[str] = set()

    def once(place: Place, what: str, instead: str) -> Iterator[Obstacle]:
        if what not in said:
            said.add(what)
            yield Obstacle(place, what, instead)

    for imported in syntax.imports.values():
        top = imported.module.split(".")[0]
        if imported.level == 0 and top in FRAMEWORKS and not _is_local(syntax, top):
            yield from once(syntax.place(imported.node), *FRAMEWORKS[top])
        elif imported.level == 0 and imported.module.startswith("google.gen"):
            yield from once(
                syntax.place(imported.node),
                "the Gemini client",
                "ART trains models behind an OpenAI-compatible API: " + CHAT,
            )
    for node in syntax.nodes:
        if isinstance(node, ast.Attribute):
            name = syntax.qualified(node) or ""
            if name.startswith(LEGACY) and node.attr in ("create", "acreate"):
                yield from once(
                    syntax.place(node),
                    "a call of openai 0.x",
                    "upgrade to openai 2 or newer: " + CHAT,
                )
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            if (
                node.value.rstrip("/").endswith("/chat/completions")
                and len(node.value) < 300
                and not _is_route(syntax, node)
            ):
                yield from once(
                    syntax.place(node),
                    "a completion over raw HTTP",
                    "use the OpenAI client: " + CHAT,
                )
        elif isinstance(node, ast.Call):
            called = syntax.qualified(node.func) or ""
            if called.endswith(PROCESSES):
                yield Obstacle(syntax.place(node), *PROCESS_ADVICE, calls_model=False)
            elif called in LITELLM_OTHERS:
                yield from once(
                    syntax.place(node), called, "use litellm.completion there"
                )


def _is_local(syntax: Syntax, top: str) -> bool:
    """Whether a package of the project has a framework's name: many have an ``agents``."""
    return any(
        module_file(root / top) or (root / top).is_dir()
        for root in import_roots(syntax.source.path)
    )


def _is_route(syntax: Syntax, node: ast.expr) -> bool:
    """Whether a path is one that the file serves: ``@app.post("/v1/chat/completions")``."""
    call = syntax.parents.get(node)
    owner = syntax.parents.get(call) if call is not None else None
    return call in getattr(owner, "decorator_list", ())


def art_use(syntax: Syntax) -> Place | None:
    """Where a file uses ART itself: it records its own trajectories, so it is left
    alone.
    """
    art = syntax.imports.get("art")
    if art is None or art.module != "art" or art.level:
        return next(
            (
                syntax.place(i.node)
                for i in syntax.imports.values()
                if i.level == 0
                and i.module.split(".")[0] == "art"
                and i.attribute
                in ("Trajectory", "TrainableModel", "Model", "TrajectoryGroup")
            ),
            None,
        )
    for node in syntax.nodes:
        if (
            isinstance(node, ast.Attribute)
            and isinstance(node.value, ast.Name)
            and node.value.id == "art"
            and node.attr[:1].isupper()
        ):
            return syntax.place(node)
    return None
