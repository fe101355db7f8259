"""Functions that are stubbed do not run, wherever they are held; what runs is announced."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from agent_files import art_adapt

from art_adapt.rehearsal.services import services

AGENT = """\
import asyncio
import functools
import json

import requests
from openai import OpenAI

import tools
from tools import refund as give_back

client = OpenAI()


def logged(function):
    @functools.wraps(function)
    def call(**arguments):
        return function(**arguments)

    return call


def closing(prefix):
    def closed(**arguments):
        raise SystemExit(prefix)

    return closed


@logged
def weather(city: str) -> str:
    raise SystemExit("weather ran")


class Desk:
    @staticmethod
    def hours(**_):
        raise SystemExit("hours ran")

    async def rooms(self, **_):
        return requests.get("http://127.0.0.1:9/rooms").text


def post(**_):
    return requests.post("http://127.0.0.1:9/post").text


desk = Desk()
REGISTRY = {
    "weather": weather,
    "refund": give_back,
    "hours": Desk.hours,
    "rooms": lambda **_: asyncio.run(desk.rooms()),
    "post": post,
    "closed": closing("closed ran"),
}
TOOLS = [
    {"type": "function", "function": {"name": name, "parameters": {"type": "object", "properties": {}}}}
    for name in REGISTRY
]


def run_agent(question: str) -> str:
    messages = [{"role": "user", "content": question}]
    for _ in range(6):
        response = client.chat.completions.create(model="m", messages=messages, tools=TOOLS)
        message = response.choices[0].message
        messages.append(message)
        if not message.tool_calls:
            return message.content
        for call in message.tool_calls:
            function = REGISTRY.get(call.function.name)
            result = function() if function else "no such tool"
            messages.append({"role": "tool", "tool_call_id": call.id, "content": json.dumps(result)})
    return "gave up"
"""
TOOLS = """\
def refund(**_):
    raise SystemExit("refund ran")
"""
STUBS = {
    "weather": '{"sky": "blue"}',
    "refund": "done",
    "Desk.hours": "[9, 17]",
    "Desk.rooms": "3",
    "post": "",
}
STUBBING = [
    part
    for name, value in STUBS.items()
    for part in ("--stub", f"{name}={value}" if value else name)
]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "agent.py").write_text(AGENT)
    (tmp_path / "tools.py").write_text(TOOLS)
    rows = [json.dumps({"question": f"question {n}"}) for n in range(3)]
    (tmp_path / "scenarios.jsonl").write_text("\n".join(rows))
    (tmp_path / "replies.jsonl").write_text(
        "\n".join(
            json.dumps({"tool_calls": [{"name": name, "arguments": {}}]})
            for name in ("weather", "refund", "hours", "rooms", "post")
        )
        + '\n{"content": "well"}'
    )
    done = art_adapt("--isolated", "agent.py", cwd=tmp_path)
    assert done.returncode == 0, done.stderr.decode()
    return tmp_path


def rehearse(folder: Path, *options: str) -> tuple[int, str]:
    done = subprocess.run(
        [
            *(sys.executable, "-m", "art_adapt", "rehearse", "agent_train.py"),
            *("--replies", "replies.jsonl", *options),
        ],
        cwd=folder,
        capture_output=True,
        timeout=200,
    )
    return done.returncode, (done.stderr + done.stdout).decode()


def test_what_is_stubbed_does_not_run(folder: Path) -> None:
    code, said = rehearse(folder, *STUBBING)
    assert code == 0, said
    assert "for real" not in said


@pytest.mark.parametrize(
    "in_place", [pytest.param(True, marks=pytest.mark.slow), False]
)
def test_what_is_stubbed_does_not_run_in_copies(folder: Path, in_place: bool) -> None:
    """Each episode works in a copy of the project, or of the rehearsal's copy of it."""
    done = art_adapt("--isolated", "--isolate", "copy", "agent.py", cwd=folder)
    assert done.returncode == 0, done.stderr.decode()
    options = ["--steps", "1", *STUBBING, *["--in-place"] * in_place]
    code, said = rehearse(folder, *options)
    assert code == 0, said
    assert "for real" not in said


@pytest.mark.parametrize(
    "threads",
    [
        pytest.param(False, id="forked"),
        # Each of its processes imports ART, for seconds.
        pytest.param(True, id="spawned", marks=pytest.mark.slow),
    ],
)
def test_what_holds_in_one_process_holds_in_each(folder: Path, threads: bool) -> None:
    """Each episode has a process of its own, which imports the agent anew."""
    agent = folder / "agent.py"
    (folder / ".env").write_text("SHOP_TOKEN=from the file\nSHOP_URL=http://shop\n")
    started = (
        "threading.Thread(target=threading.Event().wait, daemon=True).start()\n"
        if threads  # then no episode can be forked from a process that has imported it
        else ""
    )
    text = agent.read_text().replace(
        "client = OpenAI()\n",
        "import os\nimport threading\n\nfrom dotenv import load_dotenv\n\n"
        f"load_dotenv()\n{started}SEEN = {{n: v for n, v in os.environ.items() "
        "if 'SHOP' in n}\nclient = OpenAI()\n",
        1,
    )
    told = "    with open('seen.txt', 'a') as file:\n        print(os.getpid(), SEEN, file=file)\n"
    agent.write_text(text.replace("    messages = [", f"{told}    messages = [", 1))
    done = art_adapt("--isolated", "--isolate", "process", "agent.py", cwd=folder)
    assert done.returncode == 0, done.stderr.decode()
    code, said = rehearse(folder, "--steps", "1", "--in-place", *STUBBING)
    assert code == 0, said
    seen = (folder / "seen.txt").read_text().splitlines()
    assert len({line.split()[0] for line in seen}) == len(seen) > 3
    assert "from the file" not in str(seen) and "http://shop" not in str(seen)


def test_what_runs_is_named_before(folder: Path) -> None:
    _, said = rehearse(folder, "--stub", "weather", "--steps", "1")
    before = said.partition("Rehearsed")[0]
    assert "for real" in before and "post" in before and "Desk.rooms" in before
    assert "--stub" in before


def test_a_key_that_training_needs_is_named_where_it_is_not_set(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    _, said = rehearse(folder, "--stub", "weather", "--steps", "1")
    assert "OPENAI_API_KEY  not set here" in said
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    _, said = rehearse(folder, "--stub", "weather", "--steps", "1")
    assert "OPENAI_API_KEY" not in said


def test_a_function_that_is_not_there(folder: Path) -> None:
    code, said = rehearse(folder, "--stub", "wether")
    assert (
        code == 2 and "--stub wether: the agent has no function with this name" in said
    )
    assert "weather" in said


def test_each_kind_of_function_and_what_is_imported_later(tmp_path: Path) -> None:
    (tmp_path / "kinds.py").write_text(
        "import asyncio\n\ndef plain(a, b=1): return 'real'\n\n"
        "async def later(): return 'real'\n\n"
        "def rows():\n    yield 'real'\n\n"
        "async def stream():\n    yield 'real'\n\n"
        "class C:\n    def __init__(self): raise SystemExit('real')\n"
        "    @property\n    def data(self): return 'real'\n"
    )
    names = ("plain", "later", "rows", "stream", "C.data", "C.__init__")
    policy = "the return policy"
    (tmp_path / "run.py").write_text(
        "import asyncio\nfrom pathlib import Path\n"
        "from art_adapt.rehearsal.protocol import Stub\n"
        "from art_adapt.rehearsal.stubs import put_stubs\n"
        f"put_stubs([Stub(name, {policy!r}) for name in {names!r}], Path.cwd())\n"
        "import kinds\n\n"
        "async def all_of():\n    return [x async for x in kinds.stream()]\n\n"
        "print(kinds.plain(1), asyncio.run(kinds.later()), list(kinds.rows()),\n"
        "      asyncio.run(all_of()), kinds.C().data, sep='|')\n"
    )
    done = subprocess.run([sys.executable, "run.py"], cwd=tmp_path, capture_output=True)
    listed = f"['{policy}']"
    expected = "|".join([policy, policy, listed, listed, policy])
    assert done.stdout.decode().strip() == expected, done.stderr.decode()


def test_what_makes_an_object_is_not_offered_to_be_stubbed(tmp_path: Path) -> None:
    agent = tmp_path / "agent.py"
    agent.write_text(
        "import subprocess\nfrom openai import OpenAI\n\n"
        "class Desk:\n    def __init__(self):\n        subprocess.run(['true'])\n\n"
        "    def stamp(self):\n        subprocess.run(['true'])\n\n"
        "def run(question: str):\n    Desk().stamp()\n    messages = [{'role': 'user', 'content': question}]\n"
        "    return OpenAI().chat.completions.create(model='m', messages=messages)\n"
    )
    found = services(tmp_path / "agent_train.py", in_place=True)
    assert [service.function for service in found] == ["", "Desk.stamp"]


def test_a_function_that_is_made_anew_cannot_be_stubbed(folder: Path) -> None:
    code, said = rehearse(folder, "--stub", "closing.closed")
    assert code == 2 and "which each call of the outer function redefines" in said


def test_a_function_of_a_script_cannot_be_stubbed(tmp_path: Path) -> None:
    (tmp_path / "agent.py").write_text(
        "import json\nimport requests\nfrom openai import OpenAI\nfrom shop import order\n\n"
        "def price(coin):\n    return requests.get('http://localhost/' + coin).text\n\n"
        "messages = [{'role': 'user', 'content': input()}]\n"
        "while True:\n"
        "    reply = OpenAI().chat.completions.create(model='m', messages=messages)\n"
        "    said = reply.choices[0].message.content\n"
        "    messages.append({'role': 'assistant', 'content': said})\n"
        "    if 'price' not in said:\n        print(said)\n        break\n"
        "    messages.append({'role': 'user', 'content': price(said) + order(said)})\n"
    )
    (tmp_path / "shop.py").write_text("def order(said):\n    return 'ordered'\n")
    done = art_adapt("--isolated", "agent.py", cwd=tmp_path)
    assert done.returncode == 0, done.stderr.decode()
    module = tmp_path / "agent_train.py"
    assert "run_script" in module.read_text()
    assert {each.function for each in services(module, in_place=True)} == {""}
    (tmp_path / "scenarios.jsonl").write_text('{"inputs": ["bitcoin"]}\n' * 4)
    (tmp_path / "replies.jsonl").write_text('{"content": "yes"}\n')
    code, said = rehearse(tmp_path, "--steps", "1", "--stub", "price")
    assert code == 2 and "runs agent.py as a script" in said
    code, said = rehearse(tmp_path, "--steps", "1", "--stub", "order")
    assert "as a script" not in said and "Rehearsed" in said


def test_only_what_the_chosen_episode_runs_is_named(tmp_path: Path) -> None:
    (tmp_path / "agent.py").write_text(
        "import requests\nfrom openai import OpenAI\n\nclient = OpenAI()\n\n\n"
        "def answer(question: str) -> str:\n"
        '    told = [{"role": "user", "content": question}]\n'
        '    reply = client.chat.completions.create(model="m", messages=told)\n'
        "    return reply.choices[0].message.content\n\n\n"
        "def send(question: str, to: str) -> str:\n    text = answer(question)\n"
        '    requests.post("https://mail.example", json={"to": to, "text": text})\n    return text\n'
    )
    rows = '{"question": "Why?", "to": "Ada"}\n{"question": "When?", "to": "Bob"}\n'
    (tmp_path / "scenarios.jsonl").write_text(rows)
    (tmp_path / "replies.jsonl").write_text('{"content": "well"}\n')
    for entry, is_named in (("answer", False), ("send", True)):
        done = art_adapt("--isolated", "--entry", entry, "agent.py", cwd=tmp_path)
        assert done.returncode == 0, done.stderr.decode()
        _, said = rehearse(tmp_path, "--steps", "1")
        assert ("for real" in said) is is_named, said
