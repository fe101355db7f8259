"""Sends a request to an agent's web application, without a server."""

from __future__ import annotations

import asyncio
import importlib
import inspect
from contextvars import Context
from types import TracebackType
from typing import Any
from weakref import WeakKeyDictionary

import httpx

URL = "http://agent"
ASGI = {"version": "3.0", "spec_version": "2.0"}
# The state that an application gives its requests, or the error and the place where it
# failed: raised from a future for one episode, the error has no place for the next.
Started = asyncio.Future[dict[str, Any] | tuple[Exception, TracebackType | None]]
_asked: dict[int, tuple[Any, Any, str]] = {}
Serving = tuple[Started, asyncio.Task[None]]
_started: WeakKeyDictionary[asyncio.AbstractEventLoop, dict[int, Serving]] = (
    WeakKeyDictionary()
)


def ask_app(app: Any, method: str, path: str, **request: Any) -> Any:
    """Send one request to a web application, and return what it answers.

    The application is called in this process, so that what its handler asks a model is
    recorded. A router or blueprint is put into an application of its own. An ASGI
    application starts once in each event loop, before its first request: its lifespan
    handler opens what its request handlers use. It stops where the loop does.

    Args:
        app: a Flask, Quart or FastAPI application, or any other WSGI or ASGI application.
        method: of the request, "POST" for example.
        path: as the handler's decorator has it.
        request: what httpx sends: ``json``, ``data`` or ``params``.

    Returns:
        The answer's JSON, or else its text; from an ASGI application as an awaitable.

    Raises:
        RuntimeError: the application answered with an error.
        Exception: what its handler raised, or the application as it started.
    """
    # Applications are told apart by their ids, which are theirs while they are kept: a
    # router cannot be hashed, and its whole has to be the same for each request.
    if id(app) not in _asked:
        _asked[id(app)] = app, *_whole(app)
    _, app, prefix = _asked[id(app)]
    path = prefix + path
    call = app if inspect.isfunction(app) else type(app).__call__
    if inspect.iscoroutinefunction(call):
        return _ask_asgi(app, method, path, request)
    if "PROPAGATE_EXCEPTIONS" in getattr(app, "config", {}):  # Flask's
        app.config["PROPAGATE_EXCEPTIONS"] = True
    with httpx.Client(transport=httpx.WSGITransport(app=app), base_url=URL) as client:
        return _content(client.request(method, path, **request))


async def _ask_asgi(app: Any, method: str, path: str, request: dict[str, Any]) -> Any:
    match await _start(app):
        case error, place:
            raise error.with_traceback(place)
        case state:
            pass

    async def started(scope: Any, receive: Any, send: Any) -> None:
        await app({**scope, "state": state.copy()}, receive, send)

    transport = httpx.ASGITransport(app=started)
    async with httpx.AsyncClient(transport=transport, base_url=URL) as client:
        return _content(await client.request(method, path, **request))


def _start(app: Any) -> Started:
    """Start an ASGI application, once in an event loop: the state that it gives requests.

    Not for each request: what one would close at its end, others still use. It is no
    part of the episode that happens to come first, so it gets none of its context.
    """
    loop = asyncio.get_running_loop()
    of_loop = _started.setdefault(loop, {})
    if id(app) not in of_loop:
        started = loop.create_future()
        serving = loop.create_task(_serve(app, started), context=Context())
        of_loop[id(app)] = started, serving
    return of_loop[id(app)][0]


async def _serve(app: Any, started: Started) -> None:
    """Run an application's lifespan, as a server does, until the event loop ends.

    An application without a lifespan raises an error at once (Django's) or returns.
    """
    state: dict[str, Any] = {}
    asked: asyncio.Queue[dict[str, str]] = asyncio.Queue()
    asked.put_nowait({"type": "lifespan.startup"})
    failed: list[str] = []

    async def send(message: dict[str, str]) -> None:
        if message["type"] == "lifespan.startup.failed":
            failed.append(message.get("message", ""))
        elif not started.done():
            started.set_result(state)

    scope = {"type": "lifespan", "asgi": ASGI, "state": state}
    try:
        await app(scope, asked.get, send)
    except Exception as error:
        if failed:
            started.set_result((error, error.__traceback__))
    if failed and not started.done():
        said = RuntimeError(f"the application did not start: {failed[0]}")
        started.set_result((said, None))
    elif not started.done():
        started.set_result(state)


def _whole(app: Any) -> tuple[Any, str]:
    """Return the application, and what its paths begin with."""
    kind = type(app).__name__
    if kind == "APIRouter":
        whole = importlib.import_module("fastapi").FastAPI()
        whole.include_router(app)
        return whole, app.prefix
    if kind == "Blueprint":
        library = type(app).__module__.partition(".")[0]  # flask, or quart
        whole = getattr(importlib.import_module(library), library.title())("agent")
        whole.register_blueprint(app)
        return whole, app.url_prefix or ""
    return app, ""


def _content(response: httpx.Response) -> Any:
    if response.is_error:
        said = f"{response.status_code}: {response.text[:500]}"
        raise RuntimeError(f"the application answered {said}")
    is_json = "json" in response.headers.get("content-type", "")
    return response.json() if is_json else response.text
