"""``art-adapt capture``: what it keeps of real runs, and that the runs are as they were."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from agent_files import art_adapt

# Everything that an agent asks is answered by this, in the place of a client.
FAKE = """\
from types import SimpleNamespace as N


class Client:
    def __init__(self, **_):
        message = N(content="fine", tool_calls=None)
        create = lambda **_: N(choices=[N(message=message)])
        self.chat = N(completions=N(create=create))
"""
HEAD = """\
import dataclasses
from typing import TYPE_CHECKING
import fake

if TYPE_CHECKING:  # importing it takes longer than all the rest
    from openai import OpenAI

client: "OpenAI" = fake.Client()


def ask(text):
    messages = [{"role": "user", "content": text}]
    response = client.chat.completions.create(model="m", messages=messages)
    return response.choices[0].message.content


"""
FUNCTION = "def run(question: str) -> str:\n    return ask(question)\n"
CASES: dict[str, tuple[str, str, str, list[dict[str, Any]]]] = {
    "a function": (
        FUNCTION,
        "run",
        "agent.run('one'); agent.run(question='two'); agent.run('one')",
        [{"question": "one"}, {"question": "two"}],
    ),
    "a coroutine": (
        "async def run(question: str) -> str:\n    await asyncio.sleep(0)\n    return ask(question)\n",
        "run",
        "import asyncio\nagent.asyncio = asyncio\n"
        "async def main(): print(await asyncio.gather(*(agent.run(str(n)) for n in range(3))))\n"
        "asyncio.run(main())",
        [{"question": str(n)} for n in range(3)],
    ),
    "a generator": (
        "def run(question: str):\n    yield ask(question)\n    yield 'end'\n",
        "run",
        "print(list(agent.run('one')), next(agent.run('two')))",  # one is given up
        [{"question": "one"}, {"question": "two"}],
    ),
    "an asynchronous generator": (
        "async def run(question: str):\n    yield ask(question)\n    yield 'end'\n",
        "run",
        "import asyncio\nasync def main(): print([x async for x in agent.run('one')])\n"
        "asyncio.run(main())",
        [{"question": "one"}],
    ),
    "a class": (
        "class Agent:\n    def __init__(self, topic: str):\n        self.about = topic\n\n"
        "    def run(self, question: str) -> str:\n        return ask(self.about + question)\n",
        "Agent.run",
        "a = agent.Agent('cats'); a.run('one'); a.run('two'); agent.Agent(topic='dogs').run('one')",
        [
            {"topic": "cats", "question": "one"},
            {"topic": "cats", "question": "two"},
            {"topic": "dogs", "question": "one"},
        ],
    ),
    "an inherited method": (
        "class Base:\n    def __init__(self, topic: str):\n        self.about = topic\n\n"
        "    def run(self, question: str) -> str:\n        return ask(self.about + question)\n\n\n"
        "class Agent(Base):\n    def __init__(self, name):\n        super().__init__(name)\n",
        "Base.run",
        "agent.Agent('cats').run('one')",
        [{"topic": "cats", "question": "one"}],
    ),
    "a dataclass": (
        "@dataclasses.dataclass\nclass Task:\n    title: str\n    words: list[str]\n\n\n"
        "def run(task: Task) -> str:\n    return ask(task.title)\n",
        "run",
        "agent.run(agent.Task('one', ['a', 'b']))",
        [{"title": "one", "words": ["a", "b"]}],
    ),
    "threads": (
        FUNCTION,
        "run",
        "from concurrent.futures import ThreadPoolExecutor\n"
        "with ThreadPoolExecutor(4) as pool: print(sorted(pool.map(agent.run, map(str, range(20)))))",
        [{"question": str(n)} for n in range(20)],
    ),
    "arguments that change": (
        "def run(notes: list) -> str:\n    notes.append('more')\n    return ask(str(notes))\n",
        "run",
        "agent.run(['one'])",
        [{"notes": ["one"]}],
    ),
    "an error": (
        "def run(question: str) -> str:\n    ask(question)\n    raise KeyError(question)\n",
        "run",
        "try: agent.run('one')\nexcept KeyError as error: print(repr(error))",
        [{"question": "one"}],
    ),
    "a conversation that another method begins": (
        "class Desk:\n    def __init__(self):\n        self.open_ones = {}\n\n"
        "    def begin(self, topic: str) -> int:\n        key = len(self.open_ones)\n"
        "        self.open_ones[key] = topic\n        return key\n\n"
        "    def say(self, key: int, text: str) -> str:\n"
        "        topic = self.open_ones[key]\n        return ask(topic + text)\n",
        "Desk.say",
        "d = agent.Desk(); one, two = d.begin('cats'), d.begin(topic='dogs')\n"
        "print(d.say(two, 'hi'), d.say(one, 'ho'))",
        [{"topic": "dogs", "text": "hi"}, {"topic": "cats", "text": "ho"}],
    ),
    "a conversation that a coroutine begins": (
        "class Desk:\n    def __init__(self):\n        self.open_ones = {}\n\n"
        "    async def begin(self, topic: str) -> int:\n        key = len(self.open_ones)\n"
        "        self.open_ones[key] = topic\n        return key\n\n"
        "    async def say(self, key: int, text: str) -> str:\n"
        "        topic = self.open_ones[key]\n        return ask(topic + text)\n",
        "Desk.say",
        "import asyncio\n"
        "async def main():\n    d = agent.Desk()\n"
        "    for topic in ('cats', 'dogs', 'cows'):\n"
        "        d.begin('never awaited').close()\n"
        "        print(await d.say(await d.begin(topic), 'hi ' + topic))\n"
        "asyncio.run(main())",
        [{"topic": each, "text": f"hi {each}"} for each in ("cats", "dogs", "cows")],
    ),
    "a conversation that a function begins": (
        "OPEN: dict[int, str] = {}\n\n\n"
        "def begin(topic: str) -> int:\n    key = len(OPEN)\n"
        "    OPEN[key] = topic\n    return key\n\n\n"
        "def say(key: int, text: str) -> str:\n    return ask(OPEN[key] + text)\n",
        "say",
        "one, two = agent.begin('cats'), agent.begin('dogs')\n"
        "print(agent.say(two, 'hi'), agent.say(one, 'ho'))",
        [{"topic": "dogs", "text": "hi"}, {"topic": "cats", "text": "ho"}],
    ),
    "recursion": (
        "def run(question: str) -> str:\n    if len(question) < 3: run(question + '!')\n    return ask(question)\n",
        "run",
        "print(agent.run('o'))",
        [{"question": "o"}, {"question": "o!"}, {"question": "o!!"}],
    ),
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "fake.py").write_text(FAKE)
    return tmp_path


def write(folder: Path, body: str, use: str) -> None:
    (folder / "agent.py").write_text(HEAD + body)
    (folder / "use.py").write_text(f"import agent\n{use}\n")


def captured(
    folder: Path, *arguments: str, command: tuple[str, ...] = ("use.py",)
) -> subprocess.CompletedProcess[bytes]:
    options = ("--agent", "agent.py", "-o", "rows.jsonl", *arguments)
    run = (sys.executable, *command)
    return art_adapt("capture", *options, "--", *run, cwd=folder)


def rows(folder: Path) -> list[dict[str, Any]]:
    path = folder / "rows.jsonl"
    return (
        [json.loads(line) for line in path.read_text().splitlines()]
        if path.exists()
        else []
    )


def starts(folder: Path) -> list[dict[str, Any]]:
    found = [{k: v for k, v in row.items() if k != "captured"} for row in rows(folder)]
    return sorted(found, key=str)


@pytest.mark.parametrize("name", CASES)
def test_what_episodes_start_from(name: str, folder: Path) -> None:
    body, entry, use, expected = CASES[name]
    write(folder, body, use)
    plain = subprocess.run([sys.executable, "use.py"], cwd=folder, capture_output=True)
    done = captured(folder, "--entry", entry)
    assert starts(folder) == sorted(expected, key=str), done.stderr.decode()
    # The command is as it is without it.
    assert done.stdout == plain.stdout and done.returncode == plain.returncode
    assert done.stderr.startswith(plain.stderr)
    # A second run adds nothing.
    again = captured(folder, "--entry", entry)
    assert starts(folder) == sorted(expected, key=str)
    assert b"with the row of an earlier one" in again.stderr


def test_rows_say_what_came_of_it_and_are_scenarios(folder: Path) -> None:
    write(folder, FUNCTION, "agent.run('one')")
    assert captured(folder, "--entry", "run").returncode == 0
    (row,) = rows(folder)
    about = row["captured"]
    assert about["outcome"] == "returned" and about["answer"] == "fine"
    assert about["at"].startswith("20") and about["seconds"] >= 0
    assert (
        art_adapt("--isolated", "--entry", "run", "agent.py", cwd=folder).returncode
        == 0
    )
    looked = art_adapt("scenarios", "rows.jsonl", cwd=folder)
    assert looked.returncode == 0, looked.stdout + looked.stderr
    # Adapted, it is captured as before.
    (folder / "rows.jsonl").unlink()
    assert captured(folder, "--entry", "run").returncode == 0
    assert starts(folder) == [{"question": "one"}]


def test_a_row_of_an_episode_that_failed_is_told(folder: Path) -> None:
    write(folder, FUNCTION, "agent.run('one')\nagent.client = None\nagent.run('two')")
    done = captured(folder, "--entry", "run")
    said = b'1 episode ended with an error: delete {"question": "two", '
    assert done.returncode == 1 and said in done.stderr, done.stderr
    (folder / "rows.jsonl").unlink()
    write(folder, FUNCTION, "agent.run('one')")
    assert b"ended with an error" not in captured(folder, "--entry", "run").stderr


def test_a_script_that_asks_at_the_terminal(folder: Path) -> None:
    script = HEAD.split("def ask")[0] + (
        "import sys\n\nmessages = [{'role': 'system', 'content': sys.argv[1]}]\n"
        "while (said := input('> ')) != 'end':\n"
        "    messages.append({'role': 'user', 'content': said})\n"
        "    response = client.chat.completions.create(model='m', messages=messages)\n"
        "    print(response.choices[0].message.content)\n"
    )
    (folder / "agent.py").write_text(script)
    done = art_adapt(
        "capture",
        "--entry",
        "<module>",
        "-o",
        "rows.jsonl",
        "--",
        sys.executable,
        "agent.py",
        "Ann",
        cwd=folder,
        stdin=b"one\ntwo\nend\n",
    )
    assert done.returncode == 0, done.stderr.decode()
    assert starts(folder) == [{"arguments": ["Ann"], "inputs": ["one", "two", "end"]}]


@pytest.mark.parametrize(
    "command",
    [("use.py",), ("-m", "use"), ("-c", "import use"), ("-X", "dev", "use.py")],
)
def test_however_it_is_started(folder: Path, command: tuple[str, ...]) -> None:
    write(folder, FUNCTION, "agent.run('one')")
    done = captured(folder, "--entry", "run", command=command)
    assert starts(folder) == [{"question": "one"}], done.stderr.decode()


@pytest.mark.wide
def test_tests_servers_and_processes_of_its_own(folder: Path) -> None:
    write(folder, FUNCTION, "")
    (folder / "test_it.py").write_text(
        "import subprocess, sys, agent\n\n\n"
        "def test_it(): assert agent.run('in a test') == 'fine'\n\n\n"
        "def test_child():\n"
        "    subprocess.run([sys.executable, '-c', 'import agent; agent.run(\"in a child\")'], check=True)\n"
    )
    done = captured(
        folder, "--entry", "run", command=("-m", "pytest", "-q", "test_it.py")
    )
    assert done.returncode == 0, done.stdout.decode()
    assert starts(folder) == [{"question": "in a child"}, {"question": "in a test"}]


def test_a_crash_loses_at_most_the_running_episode(folder: Path) -> None:
    body = FUNCTION.replace(
        "    return", "    import os\n    if question == '3': os._exit(9)\n    return"
    )
    write(folder, body, "for n in range(5): agent.run(str(n))")
    done = captured(folder, "--entry", "run")
    assert done.returncode == 9
    assert starts(folder) == [{"question": str(n)} for n in range(3)]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_what_ends_it_ends_the_command_and_keeps_the_rows(
    folder: Path, number: signal.Signals
) -> None:
    write(
        folder,
        FUNCTION,
        # In steps: a signal just before a long sleep would be seen after it.
        "import time\nagent.run('one')\nprint('ready', flush=True)\n"
        "for _ in range(600): time.sleep(0.1)",
    )
    running = subprocess.Popen(
        [
            *(sys.executable, "-m", "art_adapt", "capture", "--agent", "agent.py"),
            *("--entry", "run", "-o", "rows.jsonl", "--", sys.executable, "use.py"),
        ],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    assert running.stdout is not None
    assert running.stdout.readline() == b"ready\n"
    if number is signal.SIGINT:  # as a terminal does
        os.killpg(running.pid, number)
    else:
        running.send_signal(number)
    running.communicate(timeout=30)
    assert running.returncode != 0
    assert starts(folder) == [{"question": "one"}]


def test_after_a_kill_the_next_run_keeps_what_was_noted(folder: Path) -> None:
    write(folder, FUNCTION, "agent.run('one')\nimport time\ntime.sleep(60)")
    running = subprocess.Popen(
        [
            *(sys.executable, "-m", "art_adapt", "capture", "--agent", "agent.py"),
            *("--entry", "run", "-o", "rows.jsonl", "--", sys.executable, "use.py"),
        ],
        cwd=folder,
        start_new_session=True,
    )
    log = folder / ".rows.jsonl.capturing"
    until = time.monotonic() + 30
    while not log.exists():
        assert time.monotonic() < until
        time.sleep(0.05)
    os.killpg(running.pid, signal.SIGKILL)
    running.wait()
    (folder / "use.py").write_text("import agent\nagent.run('two')\n")
    captured(folder, "--entry", "run")
    assert starts(folder) == [{"question": "one"}, {"question": "two"}]
    assert not log.exists()


def test_secrets_are_shown_and_left_out(folder: Path) -> None:
    key = "sk-" + "a1" * 20
    write(folder, FUNCTION, f"agent.run('my key is {key}'); agent.run('one')")
    done = captured(folder, "--entry", "run")
    said = done.stderr.decode()
    assert starts(folder) == [{"question": "one"}]
    assert "question looks like a secret (sk-a...)" in said and key not in said
    captured(folder, "--entry", "run", "--allow", "question")
    assert len(starts(folder)) == 2


def test_what_json_cannot_hold_is_named(folder: Path) -> None:
    write(
        folder,
        "def run(thing) -> str:\n    return ask(str(thing))\n",
        "agent.run(object())",
    )
    done = captured(folder, "--entry", "run")
    assert "thing cannot be stored as JSON (object)" in done.stderr.decode()
    assert rows(folder) == []


def test_a_sitecustomize_of_its_own_runs(folder: Path) -> None:
    (folder / "site").mkdir()
    (folder / "site" / "sitecustomize.py").write_text("print('mine')\n")
    write(folder, FUNCTION, "agent.run('one')")
    options = ("--agent", "agent.py", "--entry", "run", "-o", "rows.jsonl")
    done = subprocess.run(
        [
            *(sys.executable, "-m", "art_adapt", "capture", *options),
            *("--", sys.executable, "use.py"),
        ],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(folder / "site")},
        capture_output=True,
    )
    assert done.stdout.startswith(b"mine\n") and starts(folder) == [{"question": "one"}]


def test_nothing_of_the_agent_is_another_object(folder: Path) -> None:
    use = (
        "import inspect, sys, traceback\n"
        "print(agent.run.__code__.co_filename, inspect.signature(agent.run), agent.run.__dict__)\n"
        "print(sorted(name for name in vars(agent) if not name.startswith('__')))\n"
        "def depth(): return len(inspect.stack())\n"
        "agent.ask = lambda question: depth()\nprint(agent.run('x'))\n"
        "def fails(question): raise ValueError(question)\nagent.ask = fails\n"
        "try: agent.run('y')\nexcept ValueError: traceback.print_exc(file=sys.stdout)\n"
        "print([p for p in sys.path if 'listening' in p])\n"
    )
    write(folder, FUNCTION, use)
    plain = subprocess.run([sys.executable, "use.py"], cwd=folder, capture_output=True)
    assert plain.returncode == 0, plain.stderr.decode()
    assert captured(folder, "--entry", "run").stdout == plain.stdout


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--", "./no-such-command"], "cannot start ./no-such-command"),
        (
            ["--entry", "run", "--", "pytest"],
            "cannot find the agent's file in the command",
        ),
        (
            ["--agent", "agent.py", "--", "./no-such-command"],
            "cannot start ./no-such-command",
        ),
        (["--agent", "nowhere.py", "--", "python", "use.py"], "nowhere.py"),
        (["--agent", "agent.py", "--entry", "nope", "--", "python", "use.py"], "nope"),
    ],
)
def test_refusals(folder: Path, arguments: list[str], said: str) -> None:
    write(folder, FUNCTION, "")
    done = art_adapt("capture", *arguments, cwd=folder)
    assert done.returncode == 2 and said in done.stderr.decode()
    assert "Traceback" not in done.stderr.decode()


def test_no_episode_is_said(folder: Path) -> None:
    write(folder, FUNCTION, "print('hello')")
    done = captured(folder, "--entry", "run")
    assert done.returncode == 0 and b"no episode was run" in done.stderr
