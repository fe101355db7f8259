"""Train modules start episodes with what no scenario can hold, without an edit."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from agent_files import VARYING, art_adapt
from scripted_engine import Engine

from train_module.test_training import train

YES = [{"when": {"messages": "."}, "content": "yes"}]
ASK = """\
    messages = [{"role": "user", "content": question}]
    reply = client.chat.completions.create(model=MODEL, messages=messages)
    return reply.choices[0].message.content
"""
ASYNC = ASK.replace("client.chat", "await client.chat")
HEAD = "from dataclasses import dataclass\n\nfrom openai import OpenAI\n\nMODEL = 'm'\nclient = OpenAI()\n\n\n"
AGENTS = {
    "callables built in main": f"""{HEAD}def search(query):
    return query


def run(question, tools):
    for tool in tools:
        tool["function"](question)
{ASK}

def main():
    tools = [{{"function": search, "about": "finds"}}]
    print(run(input("> "), tools=tools))
""",
    "an object under the guard": f"""{HEAD}class Store:
    def __init__(self, name):
        self.name = name

    def note(self, text):
        self.last = text


class Agent:
    def __init__(self, store: Store):
        self.store = store

    def run(self, question: str) -> str:
        self.store.note(question)
{ASK.replace("    ", "        ").replace("        reply", "        reply")}

if __name__ == "__main__":
    store = Store("notes")
    print(Agent(store).run("What?"))
""",
    "a dataclass": f"""{HEAD}@dataclass
class Task:
    question: str
    limit: int = 3


def run(task: Task) -> str:
    question = task.question
{ASK}""",
    "a client in a dataclass": f'''import os
{HEAD}if os.getenv("NO_SUCH_KEY"):
    raise SystemExit('say """why""" and \\x1b[0m')


@dataclass
class Deps:
    client: OpenAI
    question: str


def run(deps: Deps) -> str:
    question, client = deps.question, deps.client
{ASK}''',
    "positional only": f"""{HEAD}def run(question, /):
{ASK}""",
    "a typer command": f"""import typer
{HEAD}app = typer.Typer()


@app.command()
def run(question: str = typer.Argument(...), turns: int = typer.Option(2, "--turns")):
    messages = [{{"role": "user", "content": question}}]
    for _ in range(turns - 1):
        reply = client.chat.completions.create(model=MODEL, messages=messages)
        messages.append(reply.choices[0].message)
    return reply.choices[0].message.content


if __name__ == "__main__":
    app()
""",
    "a typer command whose text may be left out": f"""import typer
{HEAD}def run(question: str = typer.Argument(""), shell: bool = typer.Option(False, "--shell")):
{ASK}

if __name__ == "__main__":
    typer.run(run)
""",
    "a click command": f"""import click
{HEAD}@click.command()
@click.option("--question")
def run(question):
{ASK}

if __name__ == "__main__":
    run()
""",
    "a client made of arguments with defaults": f"""from openai import OpenAI

MODEL = "m"


class Agent:
    def __init__(self, base_url: str | None = None, api_key: str = "", model: str = MODEL):
        self.base_url, self.api_key = base_url, api_key or None

    def run(self, question: str) -> str:
        assert self.base_url and self.api_key
        client = OpenAI(base_url=self.base_url, api_key=self.api_key)
{ASK.replace("    ", "        ")}""",
    "a model's name": f"""{HEAD}def run(question: str, model: str):
{ASK.replace("MODEL", "model")}""",
    "a dataclass of settings beside the question": f"""{HEAD}from pathlib import Path


@dataclass
class Settings:
    folder: Path = Path(".")
    limit: int = 3


def run(question: str, settings: Settings, model: str):
    settings.folder.exists()
{ASK}""",
    "an agent that is connected and closed": f"""import asyncio

from openai import AsyncOpenAI

MODEL = "m"
client = AsyncOpenAI()


class Agent:
    session = None

    async def connect(self, server: str):
        self.session = server

    async def run(self, question: str) -> str:
        assert self.session == "server.py"
{ASYNC.replace("    ", "        ").replace("        reply", "        reply")}
    async def close(self):
        self.session = None


async def main():
    agent = Agent()
    await agent.connect("server.py")
    print(await agent.run("What?"))


if __name__ == "__main__":
    asyncio.run(main())
""",
    "an agent whose context sets it up": f"""{HEAD}class Agent:
    session = None

    def __enter__(self):
        self.session = "open"
        return self

    def __exit__(self, *error):
        self.session = None

    def run(self, question: str) -> str:
        assert self.session
{ASK.replace("    ", "        ")}

def main():
    with Agent() as agent:
        print(agent.run("What?"))
""",
    "functions that set a module up": f"""{HEAD}session = None


def initialize(server):
    global session
    session = server


def run(question: str) -> str:
    assert session
{ASK}

def main():
    initialize("server.py")
    print(run("What?"))
""",
    "a loop that a base class has": f"""{HEAD}from abc import ABC, abstractmethod


class Base(ABC):
    @abstractmethod
    def prompt(self) -> str: ...

    def run(self, question: str) -> str:
        question = self.prompt() + question
{ASK.replace("    ", "        ")}

class Helper(Base):
    def prompt(self) -> str:
        return "Help: "
""",
    "a decorator that makes it synchronous": f"""import asyncio
import functools

from openai import AsyncOpenAI

MODEL = "m"


def blocking(function):
    @functools.wraps(function)
    def call(*given, **named):
        return asyncio.run(function(*given, **named))

    return call


@blocking
async def run(question: str) -> str:
    client = AsyncOpenAI()
{ASYNC}""",
}


def adapted(folder: Path, agent: str, name: str = "agent.py") -> str:
    (folder / name).write_text(agent)
    (folder / "rewards.py").write_text(VARYING)
    (folder / "scenarios.jsonl").write_text('{"question": "a"}\n{"question": "b"}\n')
    options = ("--isolated", "--reward", "rewards:f", "--epochs", "1")
    done = art_adapt(*options, name, cwd=folder)
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout.decode() + done.stderr.decode()


def episodes_of(
    folder: Path, agent: str, scenario: dict[str, object]
) -> list[dict[str, object]]:
    """The eight episodes of an adapted agent that is trained on one scenario, twice."""
    adapted(folder, agent)
    (folder / "scenarios.jsonl").write_text(f"{json.dumps(scenario)}\n" * 2)
    with Engine(YES) as engine:
        said = train(folder, engine)
    episodes = [e for groups in said["steps"] for group in groups for e in group]
    assert len(episodes) == 8, said
    return episodes


@pytest.mark.parametrize("name", AGENTS)
def test_it_starts_as_the_project_does(name: str, tmp_path: Path) -> None:
    episodes = episodes_of(tmp_path, AGENTS[name], {"question": "a"})
    assert {e["final_answer"] for e in episodes} == {"yes"}


def test_a_click_command_with_a_context_gets_a_command_line(tmp_path: Path) -> None:
    agent = f"""import click
{HEAD}@click.command()
@click.argument("words", nargs=-1)
@click.pass_context
def run(ctx, words):
    if not words:
        click.echo(ctx.get_help())
        return
    messages = [{{"role": "user", "content": " ".join(words)}}]
    reply = client.chat.completions.create(model=MODEL, messages=messages)
    click.echo(reply.choices[0].message.content)


if __name__ == "__main__":
    run()
"""
    episodes = episodes_of(tmp_path, agent, {"arguments": ["a", "b"]})
    assert {e["final_answer"] for e in episodes} == {"yes"}


def test_a_file_that_no_import_statement_can_name(tmp_path: Path) -> None:
    adapted(tmp_path, AGENTS["a dataclass"], "1-agent.py")
    written = tmp_path / "1-agent_train.py"
    text = written.read_text()
    assert 'run = importlib.import_module("1-agent").run\n' in text
    written.rename(tmp_path / "agent_train.py")
    with Engine(YES) as engine:
        said = train(tmp_path, engine)
    assert len(said["steps"]) == 1, said


def test_objects_come_from_where_another_file_has_them(tmp_path: Path) -> None:
    agent = f"{HEAD}class Agent:\n    def __init__(self, store):\n        self.store = store\n\n    def run(self, question: str) -> str:\n        self.store.note(question)\n{ASK.replace('    ', '        ')}"
    (tmp_path / "stores.py").write_text(
        "class Store:\n    def note(self, text):\n        self.last = text\n"
    )
    # It runs when it is imported: nothing can come from it but what it shows.
    (tmp_path / "main.py").write_text(
        "from agent import Agent\nfrom stores import Store as Notes\n\n"
        "notes = Notes()\nprint(Agent(notes).run('What?'))\n"
    )
    adapted(tmp_path, agent)
    text = (tmp_path / "agent_train.py").read_text()
    assert "from stores import Store as Notes\n" in text
    assert "    notes = Notes()\n    agent = Agent(store=notes)\n" in text
    with Engine(YES) as engine:
        said = train(tmp_path, engine)
    assert len(said["steps"]) == 1, said


def test_what_only_the_user_knows_is_asked_for(tmp_path: Path) -> None:
    agent = f"{HEAD}def run(question: str, session):\n    session.open()\n{ASK}"
    told = adapted(tmp_path, agent)
    assert "Fill in: session, in episode() of agent_train.py" in told
    with Engine(YES) as engine:
        said = train(tmp_path, engine)
    assert "fill in session" in said["stopped"] and not said["steps"]
    line = int(said["stopped"].split(":")[1])
    written = (tmp_path / "agent_train.py").read_text().splitlines()
    assert "training.fill_in(" in written[line - 1]


WEB = {
    "a flask handler": (
        f"""from flask import Flask, jsonify, request
{HEAD}app = Flask(__name__)


@app.route("/ask/<name>", methods=["POST"])
def ask(name):
    data = request.get_json(silent=True) or {{}}
    question = name + data["question"] + data.get("tone", "polite")
    messages = [{{"role": "user", "content": question}}]
    for _ in range(2):
        reply = client.chat.completions.create(model=MODEL, messages=messages)
        messages.append(reply.choices[0].message)
    return jsonify(answer=messages[-1].content)
""",
        {"name": "Ada", "question": "a"},
    ),
    "a handler with dependencies": (
        f"""from fastapi import APIRouter, Depends, Request
from pydantic import BaseModel
{HEAD}router = APIRouter(prefix="/v1")


class Question(BaseModel):
    question: str
    tone: str = "polite"


def tone():
    return "polite"


@router.post("/ask")
async def ask(asked: Question, request: Request, tone: str = Depends(tone)):
    messages = [{{"role": "user", "content": asked.question + tone}}]
    for _ in range(2):
        reply = client.chat.completions.create(model=MODEL, messages=messages)
        messages.append(reply.choices[0].message)
    return {{"answer": messages[-1].content}}
""",
        {"question": "a"},
    ),
    "a handler of a form": (
        f"""from typing import Annotated

from fastapi import FastAPI, Form, Request
{HEAD}app = FastAPI()


@app.post("/ask")
def ask(request: Request, question: Annotated[str, Form()], tone: str = Form(...)):
    messages = [{{"role": "user", "content": question + tone}}]
    for _ in range(2):
        reply = client.chat.completions.create(model=MODEL, messages=messages)
        messages.append(reply.choices[0].message)
    return {{"answer": messages[-1].content}}
""",
        {"question": "a", "tone": "polite"},
    ),
}


def reading(read: str) -> str:
    """A handler that reads the request itself, by ``read``."""
    return f"""from fastapi import FastAPI, Request
{HEAD}app = FastAPI()


@app.post("/ask")
async def ask(req: Request):
    {read}
    messages = [{{"role": "user", "content": question}}]
    for _ in range(2):
        reply = client.chat.completions.create(model=MODEL, messages=messages)
        messages.append(reply.choices[0].message)
    return {{"answer": messages[-1].content}}
"""


WEB |= {
    f"a handler that reads {what}": (reading(read), {"question": "a"})
    for what, read in {
        "JSON": 'body = await req.json()\n    question = body["question"] + body.get("tone", "polite")',
        "JSON with a default": 'question = (await req.json()).get("question", "")',
        "the query": 'question = req.query_params["question"]',
    }.items()
}
STARTS = f"""from contextlib import asynccontextmanager

from fastapi import FastAPI, Request
from pydantic import BaseModel
{HEAD}opened = {{}}


@asynccontextmanager
async def lifespan(app):
    opened["client"] = client
    opened["tone"] = "polite"
    yield {{"tone": "polite"}}
    opened.clear()


class Question(BaseModel):
    question: str


app = FastAPI(lifespan=lifespan)


@app.post("/ask")
async def ask(asked: Question, request: Request):
    messages = [{{"role": "user", "content": asked.question + TONE}}]
    for _ in range(2):
        reply = opened["client"].chat.completions.create(model=MODEL, messages=messages)
        messages.append(reply.choices[0].message)
    return {{"answer": messages[-1].content}}
"""
OLDER = STARTS.replace("lifespan=lifespan", "").replace(
    "@app.post",
    """@app.on_event("startup")
async def start():
    opened.update(client=client, tone="polite")


@app.post""",
)
WEB |= {
    "an application that fills a dict as it starts": (
        STARTS.replace("TONE", 'opened["tone"]'),
        {"question": "a"},
    ),
    "an application whose lifespan yields a state": (
        STARTS.replace("TONE", "request.state.tone"),
        {"question": "a"},
    ),
    "an application with a startup event": (
        OLDER.replace("TONE", 'opened["tone"]'),
        {"question": "a"},
    ),
}


STREAMED = f"""from typing import List

from fastapi import FastAPI
from fastapi.responses import StreamingResponse
from pydantic import BaseModel
{HEAD}app = FastAPI()


class Message(BaseModel):
    role: str
    content: str


class Chat(BaseModel):
    messages: List[Message]
    tone: str = "polite"


def stream(told: List[Message]):
    messages = [message.model_dump() for message in told]
    reply = client.chat.completions.create(model=MODEL, messages=messages)
    yield reply.choices[0].message.content


@app.post("/chat")
async def chat(request: Chat):
    return StreamingResponse(stream(request.messages))
"""


def test_a_handler_that_streams_is_waited_for(tmp_path: Path) -> None:
    """Its body holds records; its answer is what the model said last."""
    scenario = {"messages": [{"role": "user", "content": "a"}]}
    episodes = episodes_of(tmp_path, STREAMED, scenario)
    assert {e["final_answer"] for e in episodes} == {"yes"}


@pytest.mark.parametrize("name", WEB)
def test_a_handler_is_sent_a_request(name: str, tmp_path: Path) -> None:
    episodes = episodes_of(tmp_path, *WEB[name])
    assert {str(e["final_answer"]) for e in episodes} == {"{'answer': 'yes'}"}


ANSWER = """\
    messages.append({"role": "user", "content": question})
    reply = client.chat.completions.create(model="m", messages=messages)
    messages.append(reply.choices[0].message)
    print("bot:", reply.choices[0].message.content)
"""
TYPED = {
    "a script that asks until it is told to stop": (
        f"""from openai import OpenAI

client = OpenAI()
messages = []
while True:
    question = input("> ")
    if question == "exit":
        break
{ANSWER}""",
        {"inputs": ["a", "b"]},
    ),
    "a script under its guard, which ends with its input": (
        f"""import sys

from openai import OpenAI

client = OpenAI()
messages = []
if __name__ == "__main__":
    try:
        for question in iter(input, "quit"):
            {ANSWER.strip().replace(chr(10), chr(10) + "        ")}
    except EOFError:
        sys.exit()
""",
        {"inputs": ["a", "b"]},
    ),
    "a command that parses its arguments": (
        f"""import argparse

from openai import OpenAI


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--question")
    question = parser.parse_args().question
    client, messages = OpenAI(), []
    question += " please"
{ANSWER}{ANSWER}

if __name__ == "__main__":
    main()
""",
        {"arguments": ["--question", "a"]},
    ),
    "a main function that runs when the file is imported": (
        f"""from __future__ import annotations

from openai import OpenAI
from pydantic import BaseModel


class Turn(BaseModel):
    question: Question


class Question(BaseModel):
    text: str


def main():
    client, messages = OpenAI(), []
    while True:
        question = Turn(question=Question(text=input("> "))).question.text
        {ANSWER.strip().replace(chr(10), chr(10) + "    ")}


try:
    main()
except EOFError:
    print("yes")
""",
        {"inputs": ["a", "b"]},
    ),
    "a file that reads argv": (
        f"""import sys

from openai import OpenAI

client = OpenAI()
messages = []
for question in sys.argv[1:]:
{ANSWER}""",
        {"arguments": ["a", "b"]},
    ),
}

SHOWN = """\
from openai import OpenAI

client = OpenAI()
messages = []


def show(texts):
    print("bot:", *reversed(texts), sep="LINES")


while (question := input("> ")) != "exit":
    messages.append({"role": "user", "content": question})
    reply = client.chat.completions.create(model="m", messages=messages)
    messages.append({"role": "assistant", "content": reply.choices[0].message.content})
    show([part for part in PARTS])
print("Goodbye!")
"""
SAID = "messages[-1]['content']"
TYPED |= {
    "a chat that says goodbye": (
        SHOWN.replace("LINES", " ").replace("PARTS", f"[{SAID}]"),
        {"inputs": ["a", "b", "exit"]},
    ),
    "a chat that lays its answer out": (
        SHOWN.replace("LINES", "\\n").replace("PARTS", f"{SAID}[::-1]"),
        {"inputs": ["a", "b", "exit"]},
    ),
}


@pytest.mark.parametrize("name", TYPED)
def test_what_is_typed_comes_from_the_scenario(name: str, tmp_path: Path) -> None:
    episodes = episodes_of(tmp_path, *TYPED[name])
    assert {e["final_answer"] for e in episodes} == {"yes"}
    # Two turns: ART 0.5.18 gets each as a history of its own where it has no token ids.
    assert {e["choices"] + e["histories"] for e in episodes} == {2}


def test_what_the_model_did_not_say_is_what_was_printed_last(tmp_path: Path) -> None:
    agent = SHOWN.replace("LINES", " ").replace("PARTS", f"[str(len({SAID}))]")
    agent = agent.replace('print("Goodbye!")', "")
    episodes = episodes_of(tmp_path, agent, {"inputs": ["a", "b"]})
    assert {e["final_answer"] for e in episodes} == {"bot: 3"}


BOT = f"""from {{library}} import bot
{HEAD}

@bot.message_handler(func=None)
async def handle({{given}}):
    if {{of}}.author.is_bot or {{of}}.reply_to:
        return
    messages = [{{{{"role": "user", "content": {{read}}}}}}]
    for _ in range(2):
        reply = client.chat.completions.create(model=MODEL, messages=messages)
        messages.append(reply.choices[0].message)
    await {{of}}.reply_text(messages[-1].content)
"""
HANDLERS = {
    "a message": ("telebot", "message", "message", "message.text", "text"),
    "an update, and its context": (
        "telegram",
        "update, context",
        "update.message",
        "update.message.text",
        "text",
    ),
    "what a command takes": (
        "discord",
        "message: Message, task: str",
        "message",
        "task",
        "task",
    ),
    "a message, and what a command takes": (
        "discord",
        "message: Message, ctx, tone: str = 'polite'",
        "message",
        "message.content",
        "content",
    ),
}


@pytest.mark.parametrize("kind", HANDLERS)
def test_a_handler_of_a_chat_platform_gets_a_stand_in(
    kind: str, tmp_path: Path
) -> None:
    library, given, of, read, field = HANDLERS[kind]
    (tmp_path / f"{library}.py").write_text(
        "Context = Message = object\n\n\nclass bot:\n"
        "    def message_handler(func=None):\n        return lambda handler: handler\n"
    )
    agent = BOT.format(library=library, given=given, of=of, read=read)
    agent = agent.replace("import bot\n", "import Context, Message, bot\n")
    told = adapted(tmp_path, agent)
    assert "a stand-in for the platform's object" in told
    module = (tmp_path / "agent_train.py").read_text()
    assert f"\n\n    {field}: str\n" in module and "training.stand_in(" in module
    row = json.dumps({field: "a"})
    (tmp_path / "scenarios.jsonl").write_text(f"{row}\n")
    with Engine(YES) as engine:
        said = train(tmp_path, engine)
    assert len(said["steps"]) == 1, said


def test_an_annotation_says_that_a_platform_hands_it_over(tmp_path: Path) -> None:
    """What registers the handler may stand in a file that is not read."""
    adapted(
        tmp_path,
        "from openai import OpenAI\nfrom telegram import Update\n\n\n"
        "async def handle(update: Update, context):\n"
        '    messages = [{"role": "user", "content": update.message.text}]\n'
        '    reply = OpenAI().chat.completions.create(model="m", messages=messages)\n'
        "    await update.message.reply_text(reply.choices[0].message.content)\n",
    )
    module = (tmp_path / "agent_train.py").read_text()
    assert 'update=training.stand_in({"message.text": scenario.text})' in module
    assert "context: " not in module
