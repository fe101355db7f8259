"""How web applications start before they are asked, without a server."""

from __future__ import annotations

import asyncio
import contextvars
import traceback
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, TypeVar

import flask
import pytest
import quart
from fastapi import APIRouter, FastAPI

from art_adapt import training

T = TypeVar("T")
episode = contextvars.ContextVar("episode", default="none")


def run(coroutine: Coroutine[Any, Any, T]) -> T:
    """Run in an event loop of its own, whatever has patched ``asyncio.run``.

    ART's mp_actors does when it is imported (0.5.18): with nest_asyncio it takes the loop
    that is there, and cancels nothing at the end.
    """
    with asyncio.Runner() as runner:
        return runner.run(coroutine)


async def asked(app: Any, *names: str) -> list[Any]:
    """What episodes of these names get that ask an application side by side."""

    async def one(name: str) -> Any:
        episode.set(name)
        return await training.ask_app(app, "GET", "/")

    return await asyncio.gather(*map(one, names), return_exceptions=True)


def application(events: list[str], *, fails: bool = False) -> FastAPI:
    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        events.append(f"start in the episode {episode.get()}")
        if fails:
            Path("/no/keys").read_text()
        try:
            yield
        finally:
            events.append("stop")

    app = FastAPI(lifespan=lifespan)

    @app.get("/")
    async def answer() -> str:
        events.append(f"answer in the episode {episode.get()}")
        return "yes"

    return app


def test_an_application_starts_once_and_in_no_episode() -> None:
    events: list[str] = []
    app = application(events)
    assert run(asked(app, "1", "2")) == ["yes", "yes"]
    assert events[0] == "start in the episode none"
    assert sorted(events[1:3]) == ["answer in the episode 1", "answer in the episode 2"]
    assert events[3:] == ["stop"]


def test_it_starts_anew_in_another_event_loop() -> None:
    events: list[str] = []
    app = application(events)
    for _ in range(2):
        assert run(asked(app, "1")) == ["yes"]
    assert [event.split()[0] for event in events] == ["start", "answer", "stop"] * 2


def test_each_episode_is_told_why_it_did_not_start() -> None:
    answers = run(asked(application([], fails=True), "1", "2"))
    assert [str(each).endswith("'/no/keys'") for each in answers] == [True, True]
    for each in answers:
        places = [f.name for f in traceback.extract_tb(each.__traceback__)]
        assert "lifespan" in places


def test_a_failure_without_an_error_is_told() -> None:
    async def app(scope: Any, receive: Any, send: Any) -> None:
        await send({"type": "lifespan.startup.failed", "message": "no database"})

    with pytest.raises(RuntimeError, match="did not start: no database"):
        run(training.ask_app(app, "GET", "/"))


@pytest.mark.parametrize("raises", [True, False])
def test_an_application_may_know_no_lifespan(raises: bool) -> None:
    async def app(scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "lifespan":
            if raises:
                raise ValueError("Django can only handle ASGI/HTTP connections")
            return
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"yes"})

    assert run(asked(app, "1", "2")) == ["yes", "yes"]


def test_a_router_is_asked_twice() -> None:
    router = APIRouter()
    router.add_api_route("/", lambda: "yes")
    assert run(asked(router, "1", "2")) == ["yes", "yes"]


def test_a_blueprint_is_put_into_an_application_of_its_library() -> None:
    flask_part = flask.Blueprint("chat", __name__, url_prefix="/v1")
    flask_part.get("/chat")(lambda: {"said": "flask"})
    assert training.ask_app(flask_part, "GET", "/chat") == {"said": "flask"}

    quart_part = quart.Blueprint("chat", __name__, url_prefix="/v1")
    begun: list[str] = []

    @quart_part.before_app_serving
    async def begin() -> None:
        begun.append("once")

    @quart_part.get("/chat")
    async def chat() -> dict[str, list[str]]:
        return {"begun": begun}

    async def asked_twice() -> list[Any]:
        return [await training.ask_app(quart_part, "GET", "/chat") for _ in range(2)]

    assert asyncio.run(asked_twice()) == [{"begun": ["once"]}] * 2
