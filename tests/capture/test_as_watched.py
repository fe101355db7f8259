"""Where a run shows what reading cannot make, each episode starts the program that was watched."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from textwrap import dedent

import pytest
from agent_files import art_adapt

# Who makes the store and the gate, a lambda and a lock, no reading copies into episode().
DESK = dedent("""\
    import asyncio
    import json
    import sys
    import threading

    from openai import OpenAI

    client = OpenAI()


    def answer(question: str, gate, prices) -> str:
        with gate:
            messages = [{"role": "user", "content": f"{question} Prices: {prices()}"}]
            reply = client.chat.completions.create(model="m", messages=messages)
        return reply.choices[0].message.content


    async def answer_later(question: str, gate, prices) -> str:
        return await asyncio.to_thread(answer, question, gate, prices)


    class Desk:
        def __init__(self, gate, prices):
            self.gate, self.prices = gate, prices

        def answer(self, question: str) -> str:
            return answer(question, self.gate, self.prices)
    """)
PLAIN = dedent("""\
    def main(path):
        with open(path) as rows:
            held = json.load(rows)
        gate = threading.Lock()
        for question in held["questions"]:
            print({call})


    if __name__ == "__main__":
        main(sys.argv[1])
    """)
CALLS = {
    "a function": ("answer(question, gate, lambda: held['prices'])", "answer"),
    "a coroutine": (
        "asyncio.run(answer_later(question, gate, lambda: held['prices']))",
        "answer_later",
    ),
    "a method": (
        "Desk(gate, lambda: held['prices']).answer(question)",
        "Desk.answer",
    ),
}
QUESTIONS = ["What does an apple cost?", "Are the pears dearer than plums?"]


def watched(folder: Path, call: str, *command: str) -> None:
    (folder / "pyproject.toml").touch()
    (folder / "desk.py").write_text(f"{DESK}\n\n{PLAIN.format(call=call)}")
    asked = {"questions": QUESTIONS, "prices": {"apple": 3}}
    (folder / "asked.json").write_text(json.dumps(asked))
    run = ("capture", "--scripted", "--", sys.executable, *command)
    shown = art_adapt(*run, cwd=folder)
    assert shown.returncode == 0, shown.stderr


@pytest.mark.parametrize("way", CALLS)
def test_a_program_makes_what_cannot_be_copied(way: str, tmp_path: Path) -> None:
    call, until = CALLS[way]
    watched(tmp_path, call, "desk.py", "asked.json")
    said = art_adapt("--isolated", "-y", "desk.py", cwd=tmp_path)
    assert said.returncode == 0, said.stderr
    assert "python desk.py asked.json" in said.stdout.decode()
    assert "Fill in" not in said.stdout.decode()
    module = (tmp_path / "desk_train.py").read_text()
    assert f'until="desk.py:{until}"' in module
    assert 'given={"question": scenario.question}' in module
    rehearsed = art_adapt("rehearse", "desk_train.py", cwd=tmp_path)
    assert rehearsed.returncode == 0, rehearsed.stdout
    assert "an episode of its row sends the run's requests" in rehearsed.stdout.decode()


def test_each_row_starts_the_program_of_its_own_run(tmp_path: Path) -> None:
    """What the program makes of another file fits another row."""
    call, _ = CALLS["a function"]
    watched(tmp_path, call, "desk.py", "asked.json")
    other = {"questions": ["What does a plum cost?"], "prices": {"plum": 7}}
    (tmp_path / "other.json").write_text(json.dumps(other))
    run = ("capture", "--scripted", "--", sys.executable, "desk.py", "other.json")
    assert art_adapt(*run, cwd=tmp_path).returncode == 0
    said = art_adapt("--isolated", "-y", "desk.py", cwd=tmp_path)
    assert said.returncode == 0, said.stderr
    assert (
        '["desk.py", *scenario.arguments]' in (tmp_path / "desk_train.py").read_text()
    )
    rows = map(json.loads, (tmp_path / "scenarios.jsonl").read_text().splitlines())
    assert [(row["question"], row["arguments"]) for row in rows] == [
        *((question, ["asked.json"]) for question in QUESTIONS),
        ("What does a plum cost?", ["other.json"]),
    ]


def test_it_is_started_where_that_is_asked_for(tmp_path: Path) -> None:
    watched(tmp_path, "answer(question, gate, dict)", "-m", "desk", "asked.json")
    said = art_adapt("--isolated", "-y", "--start", "program", "desk.py", cwd=tmp_path)
    assert said.returncode == 0, said.stderr
    module = (tmp_path / "desk_train.py").read_text()
    assert '["-m", "desk", "asked.json"]' in module
    assert "@training.isolated(" in module


def test_a_program_that_no_run_shows_is_refused(tmp_path: Path) -> None:
    (tmp_path / "desk.py").write_text(DESK.partition("async def")[0])
    said = art_adapt("--isolated", "-y", "--start", "program", "desk.py", cwd=tmp_path)
    assert said.returncode == 2
    assert "no watched run shows a program that calls" in said.stderr.decode()
    assert not (tmp_path / "desk_train.py").exists()


# What draws its task by chance, or reads it from a module, takes it from the command line.
DRAWN = dedent("""\
    import random
    import sys

    from openai import OpenAI

    client = OpenAI()


    def play() -> str:
        word = random.choice(["apple", "grape", "lemon"])
        asked = [{"role": "user", "content": f"Guess my word. Its last letter: {word[-1]}"}]
        reply = client.chat.completions.create(model="m", messages=asked)
        return reply.choices[0].message.content


    if __name__ == "__main__":
        random.seed(int(sys.argv[1]))
        print(play())
    """)


def test_the_command_line_is_the_scenario_of_what_takes_nothing(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").touch()
    (tmp_path / "game.py").write_text(DRAWN)
    run = ("capture", "--scripted", "--", sys.executable, "game.py")
    first, second = (art_adapt(*run, seed, cwd=tmp_path) for seed in ("3", "41"))
    assert first.returncode == 2  # nobody knows yet whether it reads that
    assert b"run it once more with other arguments" in first.stderr
    assert second.returncode == 0, second.stderr
    said = art_adapt("--isolated", "-y", "game.py", cwd=tmp_path)
    assert said.returncode == 0, said.stderr
    module = (tmp_path / "game_train.py").read_text()
    assert '["game.py", *scenario.arguments]' in module
    rows = (tmp_path / "scenarios.jsonl").read_text().splitlines()
    assert [json.loads(row)["arguments"] for row in rows] == [["3"], ["41"]]
    rehearsed = art_adapt("rehearse", "game_train.py", cwd=tmp_path)
    assert rehearsed.returncode == 0, rehearsed.stdout
    assert "sends the run's requests" in rehearsed.stdout.decode()


BEFORE = dedent("""\
    import sqlite3
    import sys
    from pathlib import Path

    from openai import OpenAI

    client = OpenAI()
    STORE = Path(__file__).with_name("prices.db")


    def open_shop() -> None:
        with sqlite3.connect(STORE) as store:
            store.execute("create table if not exists prices (name, price)")
            store.execute("insert into prices values ('apple', 3)")


    def answer(question: str) -> str:
        with sqlite3.connect(STORE) as store:
            known = store.execute("select * from prices").fetchall()
        asked = [{"role": "user", "content": f"{question} {known}"}]
        reply = client.chat.completions.create(model="m", messages=asked)
        return reply.choices[0].message.content
    """)
STARTS = {
    "a main function": (
        "def main() -> None:\n    open_shop()\n    print(answer(sys.argv[1]))\n\n\n"
        'if __name__ == "__main__":\n    main()\n',
        ["shop.py"],
    ),
    "below the guard": (
        'if __name__ == "__main__":\n    open_shop()\n    print(answer(sys.argv[1]))\n',
        ["shop.py"],
    ),
    "another file": (
        "",
        ["-c", "import shop; shop.open_shop(); print(shop.answer('How much is it?'))"],
    ),
    "a fixture": ("", ["-m", "pytest", "-q", "test_shop.py"]),
}
TEST = dedent("""\
    import pytest
    import shop


    @pytest.fixture
    def opened():
        shop.STORE.unlink(missing_ok=True)
        shop.open_shop()
        yield
        shop.STORE.unlink()


    def test_it_answers(opened):
        assert shop.answer("How much is an apple?")
    """)


@pytest.mark.parametrize("way", STARTS)
def test_what_ran_before_the_episode_runs_again(way: str, tmp_path: Path) -> None:
    end, command = STARTS[way]
    (tmp_path / "pyproject.toml").touch()
    (tmp_path / "test_shop.py").write_text(TEST)
    (tmp_path / "shop.py").write_text(f"{BEFORE}\n\n{end}" if end else BEFORE)
    if way == "another file":
        (tmp_path / "start.py").write_text(command[1].replace("; ", "\n"))
        command = ["start.py"]
    asked = ["How much is an apple?"] * (way != "a fixture")
    run = ("capture", "--scripted", "--", sys.executable, *command, *asked)
    assert art_adapt(*run, cwd=tmp_path).returncode == 0
    (tmp_path / "prices.db").unlink(missing_ok=True)
    said = art_adapt("--isolated", "-y", "shop.py", cwd=tmp_path)
    assert said.returncode == 0, said.stderr
    assert "it runs " in " ".join(said.stdout.decode().split())
    rehearsed = art_adapt("rehearse", "shop_train.py", cwd=tmp_path)
    assert rehearsed.returncode == 0, rehearsed.stdout
    assert "sends the run's requests" in rehearsed.stdout.decode()
    assert not (tmp_path / "prices.db").exists()


def test_what_an_import_does_again_needs_no_program(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").touch()
    end = (
        'open_shop()\n\n\nif __name__ == "__main__":\n    print(answer(sys.argv[1]))\n'
    )
    (tmp_path / "shop.py").write_text(f"{BEFORE}\n\n{end}")
    run = ("capture", "--scripted", "--", sys.executable, "shop.py", "How much?")
    assert art_adapt(*run, cwd=tmp_path).returncode == 0
    said = art_adapt("--isolated", "-y", "shop.py", cwd=tmp_path)
    assert said.returncode == 0, said.stderr
    assert "run_program" not in (tmp_path / "shop_train.py").read_text()


SERVED = dedent("""\
    import threading

    import httpx
    import shop
    import uvicorn
    from fastapi import FastAPI

    app = FastAPI()


    @app.post("/ask")
    def ask(question: str) -> dict:
        return {"answer": shop.answer(question)}


    def serve() -> None:
        server = uvicorn.Server(uvicorn.Config(app, port=0))

        def ask_once() -> None:
            while not server.started:
                pass
            port = server.servers[0].sockets[0].getsockname()[1]
            url = f"http://127.0.0.1:{port}/ask"
            httpx.post(url, params={"question": "How much is it?"}, timeout=30)
            server.should_exit = True

        threading.Thread(target=ask_once).start()
        server.run()


    if __name__ == "__main__":
        shop.open_shop()
        serve()
    """)


def test_a_server_is_no_program_of_an_episode(tmp_path: Path) -> None:
    """It waits for a request, which nobody sends in an episode."""
    (tmp_path / "pyproject.toml").touch()
    (tmp_path / "shop.py").write_text(BEFORE)
    (tmp_path / "server.py").write_text(SERVED)
    run = ("capture", "--scripted", "--", sys.executable, "server.py")
    assert art_adapt(*run, cwd=tmp_path).returncode == 0
    said = art_adapt("--isolated", "-y", "server.py", cwd=tmp_path)
    assert said.returncode == 0, said.stderr
    (module,) = tmp_path.glob("*_train.py")
    assert "run_program" not in module.read_text()
    refused = art_adapt(
        "--isolated", "--diff", "--start", "program", "server.py", cwd=tmp_path
    )
    assert refused.returncode == 2
    assert b"a server waits for a request" in refused.stderr
