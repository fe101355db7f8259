"""Finds completions that are asked for over raw HTTP, and spells the edit to the SDK.

An SDK's client can be recorded; ``requests``, ``httpx``, ``aiohttp`` and ``urllib`` cannot.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from art_adapt.calls import URLS
from art_adapt.code.nodes import (
    assignment,
    called_name,
    dotted,
    last_name,
    with_defaults,
)
from art_adapt.code.syntax import Syntax
from art_adapt.survey.side_effects.harm import Obstacle

SENDING = ("post", "request", "stream", "build_request", "Request", "urlopen", "fetch")
PAYLOADS = ("json", "data", "content", "body")
WHAT = "a completion over raw HTTP"
OF_OPENAI = re.compile(rb"api\.openai\.com|\bOPENAI_")
API_PATH = re.compile(r"/(chat/completions|completions|responses)/?$")
ADVICE = "use the OpenAI client: call {call} there"


def find_raw_http(syntax: Syntax) -> Iterator[Obstacle]:
    """Yield what sends a request to the URL of a completion, each once."""
    said: set[ast.AST] = set()
    for node in syntax.nodes:
        if not isinstance(node, ast.Constant) or not _is_url(syntax, node):
            continue
        if _is_route(syntax, node):
            continue
        places: list[ast.expr] = [*_sendings(syntax, node)]
        for place in places or [node]:
            if place in said:
                continue
            said.add(place)
            method = _method(node)
            advice = ADVICE.format(call=f"client.{method}")
            # Else nothing is known to send it.
            edit = (
                _edit(syntax, place, node, method)
                if isinstance(place, ast.Call)
                else ""
            )
            yield Obstacle(syntax.place(place), WHAT, advice, edit=edit)


def _is_url(syntax: Syntax, node: ast.Constant) -> bool:
    """True if a string is the URL of an API in the table, or its end.

    ``/responses`` alone is a path of many services: the file has to name OpenAI's.
    """
    if not isinstance(node.value, str) or len(node.value) >= 300:
        return False
    path = _path(node.value)
    return path.endswith(URLS) or (
        path.endswith("/responses") and OF_OPENAI.search(syntax.source.data) is not None
    )


def _path(url: str) -> str:
    """Return a URL without its query, which Azure wants, and without a slash at its end."""
    return url.partition("?")[0].rstrip("/")


def _is_route(syntax: Syntax, node: ast.expr) -> bool:
    """True if the file serves the path, as in ``@app.post("/v1/chat/completions")``."""
    call = syntax.parents.get(node)
    owner = syntax.parents.get(call) if call is not None else None
    return call in getattr(owner, "decorator_list", ())


def _method(url: ast.Constant) -> str:
    is_response = _path(str(url.value)).endswith("/responses")
    return "responses.create" if is_response else "chat.completions.create"


# ------------------------------------------------------------------------ what sends it


def _sendings(syntax: Syntax, url: ast.Constant) -> Iterator[ast.Call]:
    """Yield the calls that send a request to ``url``: with it, or with its name."""
    for outer in syntax.ancestors(url):
        if isinstance(outer, ast.Call) and _sends(outer):
            yield outer
            return
        if isinstance(outer, ast.stmt | ast.arguments):
            names = set(_bound(outer, url))
            for node in syntax.nodes:
                if (
                    isinstance(node, ast.Call)
                    and _sends(node)
                    and names & set(_names(node))
                ):
                    yield node
            return


def _bound(outer: ast.AST, url: ast.Constant) -> Iterator[str]:
    """Yield the last names of what is assigned ``url``, or has it as its default."""
    if isinstance(outer, ast.arguments):
        yield from (each.arg for each, own in with_defaults(outer) if own is url)
    else:
        yield from map(last_name, assignment(outer)[0])


def _sends(call: ast.Call) -> bool:
    return called_name(call) in SENDING


def _names(call: ast.Call) -> Iterator[str]:
    """Yield the last names of what a call is given as its URL."""
    given = [*call.args, *(k.value for k in call.keywords if k.arg not in PAYLOADS)]
    for argument in given:
        for node in ast.walk(argument):
            if isinstance(node, ast.Name):
                yield node.id
            elif isinstance(node, ast.Attribute):
                yield node.attr


# ----------------------------------------------------------------------------- the edit


def _edit(syntax: Syntax, sending: ast.Call, url: ast.Constant, method: str) -> str:
    """Spell the call of the SDK that asks for the same, in the agent's own names."""
    function = syntax.functions.get(syntax.owner(sending))
    is_async = function is not None and isinstance(function.node, ast.AsyncFunctionDef)
    client = "AsyncOpenAI" if is_async else "OpenAI"
    given = [
        f"{name}={value}"
        for name, value in (
            ("base_url", _base_url(syntax, url)),
            ("api_key", _key(syntax)),
        )
        if value
    ]
    asked = f"client.{method}({_payload(syntax, sending)})"
    return (
        f"client = openai.{client}({', '.join(given)})\n"
        f"completion = {'await ' if is_async else ''}{asked}\n"
        "answer = completion.model_dump()  # instead of the response's JSON"
    )


def _base_url(syntax: Syntax, url: ast.Constant) -> str:
    """Spell the URL without the API's own path; "" for the SDK's default."""
    outer = syntax.parents.get(url)
    text = API_PATH.sub("", _path(str(url.value)))
    if isinstance(outer, ast.JoinedStr) and outer.values[-1] is url:
        before = outer.values[:-1]
        if len(before) == 1 and not text and isinstance(before[0], ast.FormattedValue):
            return syntax.text(before[0].value)
        rest = [*before, *([ast.Constant(text)] if text else [])]
        return ast.unparse(ast.JoinedStr(rest))
    if isinstance(outer, ast.BinOp) and outer.right is url:
        base = syntax.text(outer.left)
        return f"{base} + {text!r}" if text else base
    return repr(text) if "://" in text else ""


def _key(syntax: Syntax) -> str:
    """Spell the key that the file sends as a bearer token; "" for the SDK's default."""
    for node in syntax.nodes:
        if not isinstance(node, ast.JoinedStr) or len(node.values) != 2:
            continue
        start, key = node.values
        if (
            isinstance(start, ast.Constant)
            and str(start.value).strip() == "Bearer"
            and isinstance(key, ast.FormattedValue)
        ):
            return syntax.text(key.value)
    return ""


def _payload(syntax: Syntax, sending: ast.Call) -> str:
    """Spell what is sent as the SDK's arguments."""
    payload = next((k.value for k in sending.keywords if k.arg in PAYLOADS), None)
    while isinstance(payload, ast.Call):  # json.dumps(...).encode()
        inner = payload.func.value if isinstance(payload.func, ast.Attribute) else None
        payload = payload.args[0] if payload.args else inner
    if payload is None:
        return "model=..., messages=..."
    if isinstance(payload, ast.Name):
        values = [v for v in syntax.values_of(payload) if isinstance(v, ast.Dict)]
        is_whole = len(values) == 1 and not _grows(syntax, payload.id)
        if not (is_whole and len(ast.unparse(values[0])) < 200):
            return f"**{payload.id}"
        payload = values[0]
    if isinstance(payload, ast.Dict) and all(
        isinstance(key, ast.Constant) and str(key.value).isidentifier()
        for key in payload.keys
    ):
        pairs = zip(payload.keys, payload.values, strict=True)
        return ", ".join(
            f"{key.value!s}={ast.unparse(value)}"
            for key, value in pairs
            if isinstance(key, ast.Constant)
        )
    return f"**{ast.unparse(payload)}"


def _grows(syntax: Syntax, name: str) -> bool:
    """Tell whether a dict gets keys after it was made."""
    return any(
        (
            isinstance(node, ast.Subscript)
            and isinstance(node.ctx, ast.Store)
            and dotted(node.value) == name
        )
        or (
            isinstance(node, ast.Attribute)
            and node.attr == "update"
            and dotted(node.value) == name
        )
        for node in syntax.nodes
    )
