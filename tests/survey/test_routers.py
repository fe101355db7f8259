"""What a file brings in with the object that decorates it is the file's own."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

import pytest
from agent_files import art_adapt

MODEL = """
    from openai import OpenAI

    client = OpenAI()

    def complete(messages: list[dict]) -> str:
        reply = client.chat.completions.create(model="m", messages=messages)
        return reply.choices[0].message.content

    def answer(question: str) -> str:
        return complete([{"role": "user", "content": question}])
    """
ROUTES = """
    from fastapi import APIRouter

    from app.model import answer

    router = APIRouter()

    @router.post("/ask")
    def ask(question: str) -> str:
        return answer(question)
    """
COMMANDS = """
    import typer

    from app.model import answer

    router = typer.Typer()

    @router.command()
    def ask(question: str) -> None:
        print(answer(question))
    """
# The file that the user names, and the others.
APPLICATIONS = {
    "a module's router": ("from fastapi import FastAPI\nfrom app.routes import chat\n\napi = FastAPI()\napi.include_router(chat.router, prefix='/chat')", {"routes/chat.py": ROUTES}),
    "a router by another name": ("from fastapi import FastAPI\nfrom app.routes.chat import router as chatting\n\napi = FastAPI()\napi.include_router(chatting)", {"routes/chat.py": ROUTES}),
    "in a factory": ("from fastapi import FastAPI\nfrom app.routes import chat\n\ndef create():\n    api = FastAPI()\n    api.include_router(router=chat.router)\n    return api", {"routes/chat.py": ROUTES}),
    "a router of routers": ("from fastapi import FastAPI\nfrom app.api import routers\n\napi = FastAPI()\napi.include_router(routers)", {"api.py": "from fastapi import APIRouter\nfrom app.routes import chat\n\nrouters = APIRouter()\nrouters.include_router(chat.router)", "routes/chat.py": ROUTES}),
    "commands": ("import typer\nfrom app.routes import chat\n\ncli = typer.Typer()\ncli.add_typer(chat.router, name='chat')", {"routes/chat.py": COMMANDS}),
}  # fmt: skip


@pytest.mark.parametrize("kind", APPLICATIONS)
def test_a_router_is_followed(tmp_path: Path, kind: str) -> None:
    main, others = APPLICATIONS[kind]
    files = {"main.py": main, "model.py": MODEL, "__init__.py": "", **others}
    for name, text in {"routes/__init__.py": "", **files}.items():
        path = tmp_path / "app" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(dedent(text))
    done = art_adapt("--diff", "app/main.py", cwd=tmp_path)
    said = done.stderr.decode()
    assert done.returncode == 1, said
    assert "policy call app/model.py:7" in said


def test_what_only_looks_at_an_object_takes_nothing_in(tmp_path: Path) -> None:
    main = "from app.routes import chat\n\nprint(id(chat.router), len([chat.router]))\n"
    for name, text in {
        "main.py": main,
        "model.py": MODEL,
        "routes/chat.py": ROUTES,
    }.items():
        path = tmp_path / "app" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(dedent(text))
    assert art_adapt("--diff", "app/main.py", cwd=tmp_path).returncode == 2


def test_an_object_that_decorates_nothing_brings_nothing(tmp_path: Path) -> None:
    others = {"routes/chat.py": ROUTES.replace("@router", "@other.router")}
    main = APPLICATIONS["a module's router"][0]
    for name, text in {"main.py": main, "model.py": MODEL, **others}.items():
        path = tmp_path / "app" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(dedent(text))
    done = art_adapt("--diff", "app/main.py", cwd=tmp_path)
    assert done.returncode == 2
    assert b"no call path leads from main.py to the model call" in done.stderr


def test_candidates_of_one_name_are_told_apart(tmp_path: Path) -> None:
    """What the report names can be given to --entry."""
    service = (
        "from openai import OpenAI\n\n\ndef chat(message: str, db) -> str:\n"
        "    asked = [{'role': 'user', 'content': message + str(db.rows())}]\n"
        "    return OpenAI().chat.completions.create(model='m', messages=asked).choices[0].message.content\n"
    )
    routes = (
        "import service\nfrom fastapi import APIRouter, Depends\nfrom pydantic import BaseModel\n\n"
        "router = APIRouter()\n\n\nclass Ask(BaseModel):\n    message: str\n\n\n"
        "@router.post('/chat')\ndef chat(request: Ask, db=Depends(print)) -> dict:\n"
        "    return {'answer': service.chat(request.message, db)}\n"
    )
    (tmp_path / "service.py").write_text(service)
    (tmp_path / "routes.py").write_text(routes)
    said = art_adapt("--diff", "routes.py", cwd=tmp_path).stderr.decode()
    assert "nearly as likely: routes.py:chat (" in said
    taken = art_adapt("--diff", "--entry", "routes.py:chat", "routes.py", cwd=tmp_path)
    assert "entry point routes.py:" in taken.stderr.decode()
