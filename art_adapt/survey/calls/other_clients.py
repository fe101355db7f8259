"""Names the clients that speak no OpenAI API, and spells the call that can be recorded.

LiteLLM asks the same models in OpenAI's form: production stays where it is, and in
training the call goes to the model that learns.
"""

from __future__ import annotations

import ast
from collections.abc import Container, Iterator
from dataclasses import dataclass

from art_adapt.code.packages import is_of_project
from art_adapt.code.syntax import Import, Syntax
from art_adapt.survey.calls.frameworks import LITE_LLM
from art_adapt.survey.side_effects.harm import Obstacle

ADVICE = (
    "call the model through LiteLLM, in OpenAI's format (also the tools and the answer): "
    "production keeps its model, and art-adapt records litellm.completion"
)

BESIDE = "episodes ask it for real, with its own key, and do not train its replies; to train them, "


@dataclass(frozen=True)
class OtherClient:
    """A client of another API.

    Attributes:
        name: as messages call it.
        modules: that it is imported from, or from below.
        calls: how the calls end that ask for a completion.
        provider: LiteLLM's name for it.
        messages: the argument with the conversation.
        system: the argument with the system prompt, beside the conversation.
        unless: a module beside which the client asks by the openai SDK.
        advice: what to do.
    """

    name: str
    modules: tuple[str, ...]
    calls: tuple[str, ...]
    provider: str
    messages: str = "messages"
    system: str | None = None
    unless: str = ""
    advice: str = ADVICE


CLIENTS = (
    OtherClient(
        "Google's ADK on Gemini",
        ("google.adk",),
        (),
        "gemini",
        unless=LITE_LLM,
        advice="give its agents model=LiteLlm('openai/...'), which ART's models can "
        "answer for, then run art-adapt again",
    ),
    OtherClient(
        "the Anthropic client",
        ("anthropic",),
        ("messages.create", "messages.stream", "messages.parse"),
        "anthropic",
        system="system",
    ),
    OtherClient(
        "the Gemini client",
        ("google.genai", "google.generativeai", "vertexai"),
        (
            "generate_content",
            "generate_content_async",
            "generate_content_stream",
            "send_message",
            "send_message_async",
        ),
        "gemini",
        messages="contents",
        unless=LITE_LLM,  # only types of it are used then
    ),
    OtherClient(
        "the Ollama client", ("ollama",), (".chat", ".generate"), "ollama_chat"
    ),
    OtherClient(
        "the Mistral client",
        ("mistralai",),
        ("chat.complete", "chat.complete_async", "chat.stream", "chat.stream_async"),
        "mistral",
    ),
    OtherClient(
        "the Cohere client", ("cohere",), (".chat", ".chat_stream"), "cohere_chat"
    ),
)


def find_other_clients(
    syntax: Syntax, within: Container[str] | None = None
) -> Iterator[Obstacle]:
    """Yield the clients that a file uses, at the first call, or else the import of what it uses.

    ``within``: the functions of episodes, of a file that asks for nothing else; None: all of it.
    """
    for client in CLIENTS:
        imported = {
            n: i for n, i in syntax.imports.items() if _is_of(syntax, i, client)
        }
        if not imported or (client.unless and _imports(syntax, client.unless)):
            continue
        asking = (
            call
            for ending in client.calls
            for call in _calls(syntax, ending)
            if within is None or syntax.owner(call) in within
        )
        if (call := next(asking, None)) is not None:
            edit = _edit(syntax, call, client)
            advice = client.advice if within is None else f"{BESIDE}{client.advice}"
            yield Obstacle(syntax.place(call), client.name, advice, edit=edit)
        elif within is None and _uses(syntax, imported):
            place = syntax.place(next(iter(imported.values())).node)
            yield Obstacle(place, client.name, client.advice)


def _uses(syntax: Syntax, names: Container[str]) -> bool:
    """True if a file reads one of some names, or offers it to others as a package's file does."""
    if syntax.source.path.name == "__init__.py":
        return True
    return any(
        isinstance(node, ast.Name)
        and isinstance(node.ctx, ast.Load)
        and node.id in names
        for node in syntax.nodes
    )


def _imports(syntax: Syntax, module: str) -> bool:
    return any(i.module == module for i in syntax.imports.values())


def _is_of(syntax: Syntax, imported: Import, client: OtherClient) -> bool:
    whole = f"{imported.module}.{imported.attribute or ''}."  # from google import genai
    return (
        not imported.level
        and any(whole.startswith(f"{module}.") for module in client.modules)
        and not is_of_project(
            syntax.source.path, imported.module, imported.attribute or ""
        )
    )


def _calls(syntax: Syntax, ending: str) -> Iterator[ast.Call]:
    """Yield the calls whose callee ends like that."""
    for node in syntax.nodes:
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            callee = ast.unparse(node.func)
            if callee.endswith(ending) and "threads" not in callee:
                yield node


def _edit(syntax: Syntax, call: ast.Call, client: OtherClient) -> str:
    """Spell the call of LiteLLM that asks for the same, in the agent's own names."""
    given = {k.arg: ast.unparse(k.value) for k in call.keywords if k.arg is not None}
    model = given.get("model", "'...'")
    is_literal = model[:1] in "'\""
    model = (
        f"{model[0]}{client.provider}/{model[1:]}"
        if is_literal
        else (f"f'{client.provider}/{{{model}}}'")
    )
    messages = given.get(client.messages, "[...]")
    if client.messages != "messages":  # their own form
        messages = "[{'role': 'user', 'content': ...}]"
    if client.system in given:
        system = f"{{'role': 'system', 'content': {given[client.system]}}}"
        messages = f"[{system}, *{messages}]"
    arguments = [f"model={model}", f"messages={messages}"]
    for name in ("tools", "max_tokens", "temperature", "stream"):
        if name in given:
            arguments.append(f"{name}={given[name]}")
    is_async = isinstance(syntax.parents.get(call), ast.Await)
    asked = "await litellm.acompletion" if is_async else "litellm.completion"
    return (
        f"completion = {asked}({', '.join(arguments)})\n"
        "text = completion.choices[0].message.content"
    )
