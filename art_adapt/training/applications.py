"""Sends a request to an agent's web application, without a server."""

from __future__ import annotations

import importlib
import inspect
from typing import Any

import httpx

URL = "http://agent"


def ask_app(app: Any, method: str, path: str, **request: Any) -> Any:
    """Send one request to a web application, and return what it answers.

    The application is called in this process, so that what its handler asks a model is
    recorded. A router or blueprint is put into an application of its own. What an ASGI
    application does at startup is not run.

    Args:
        app: a Flask or FastAPI application, or any other WSGI or ASGI application.
        method: of the request, "POST" for example.
        path: as the handler's decorator has it.
        request: what httpx sends: ``json``, ``data`` or ``params``.

    Returns:
        The answer's JSON, or else its text; from an ASGI application as an awaitable.

    Raises:
        RuntimeError: the application answered with an error.
        Exception: what its handler raised.
    """
    app, prefix = _whole(app)
    path = prefix + path
    call = app if inspect.isfunction(app) else type(app).__call__
    if inspect.iscoroutinefunction(call):
        return _ask_asgi(app, method, path, request)
    if "PROPAGATE_EXCEPTIONS" in getattr(app, "config", {}):  # Flask's
        app.config["PROPAGATE_EXCEPTIONS"] = True
    with httpx.Client(transport=httpx.WSGITransport(app=app), base_url=URL) as client:
        return _content(client.request(method, path, **request))


async def _ask_asgi(app: Any, method: str, path: str, request: dict[str, Any]) -> Any:
    transport = httpx.ASGITransport(app=app)
    async with httpx.AsyncClient(transport=transport, base_url=URL) as client:
        return _content(await client.request(method, path, **request))


def _whole(app: Any) -> tuple[Any, str]:
    """The application, and what its paths begin with."""
    kind = type(app).__name__
    if kind == "APIRouter":
        whole = importlib.import_module("fastapi").FastAPI()
        whole.include_router(app)
        return whole, app.prefix
    if kind == "Blueprint":
        whole = importlib.import_module("flask").Flask("agent")
        whole.register_blueprint(app)
        return whole, app.url_prefix or ""
    return app, ""


def _content(response: httpx.Response) -> Any:
    if response.is_error:
        said = f"{response.status_code}: {response.text[:500]}"
        raise RuntimeError(f"the application answered {said}")
    is_json = "json" in response.headers.get("content-type", "")
    return response.json() if is_json else response.text
