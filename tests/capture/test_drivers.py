"""Programs around an agent, as projects have them: what a watched run of one shows of it."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from textwrap import dedent

import pytest
from agent_files import art_adapt, first_now

LOOP = dedent("""\
    import json

    from openai import OpenAI

    client = OpenAI()
    TOOLS = [{"type": "function", "function": {"name": "look", "description": "Look around, as in San Francisco, CA.", "parameters": {"type": "object", "properties": {"place": {"type": "string"}}}}}]


    def look(place: str = "") -> str:
        return f"{place} is sunny"


    def run_agent(task: str, turns: int = 4) -> str:
        messages = [{"role": "user", "content": task}]
        for _ in range(turns):
            reply = client.chat.completions.create(model="m", messages=messages, tools=TOOLS)
            message = reply.choices[0].message
            messages.append(message)
            if not message.tool_calls:
                return message.content
            for call in message.tool_calls:
                seen = look(**json.loads(call.function.arguments))
                messages.append({"role": "tool", "tool_call_id": call.id, "content": seen})
        return "gave up"
    """)
CALL = {"name": "look", "arguments": {"place": "San Francisco, CA"}}
REPLIES = [
    {"tool_calls": [CALL]},
    {"when": "sunny", "content": "It is sunny over there."},
]


def shown(
    folder: Path,
    files: Mapping[str, str],
    *commands: tuple[str, ...],
    replies: Sequence[Mapping[str, object]] = REPLIES,
) -> tuple[str, list[dict[str, object]]]:
    """Watch commands of a project; return what the last one said, and the rows."""
    (folder / "pyproject.toml").touch()
    for name, text in files.items():
        (folder / name).write_text(dedent(text))
    rows = "".join(json.dumps(each) + "\n" for each in replies)
    (folder / "replies.jsonl").write_text(rows)
    said = ""
    for command in commands:
        options = ("capture", "--scripted", "--replies", "replies.jsonl", "--")
        done = art_adapt(*options, sys.executable, *command, cwd=folder)
        said = done.stderr.decode()
    written = (folder / "scenarios.jsonl").read_text().splitlines()
    return said, [json.loads(row) for row in written]


@pytest.mark.wide
def test_a_batch_that_writes_what_each_task_gave_is_no_episode(tmp_path: Path) -> None:
    """``json.dumps`` of an answer tells nothing to what ``json.loads`` made of the next task."""
    batch = """\
    import json
    import sys

    from agent import run_agent


    def solve(task: dict) -> dict:
        return {"id": task["id"], "answer": run_agent(task["text"])}


    def main() -> None:
        tasks = [json.loads(line) for line in open("tasks.jsonl")]
        with open("results.jsonl", "w") as out:
            for task in tasks:
                if task["id"] in sys.argv[1:]:
                    out.write(json.dumps(solve(task)) + "\\n")


    if __name__ == "__main__":
        main()
    """
    tasks = '{"id": "a", "text": "How is Rome in May?"}\n{"id": "b", "text": "And how is Oslo in June?"}\n'
    files = {"agent.py": LOOP, "batch.py": batch, "tasks.jsonl": tasks}
    said, rows = shown(tmp_path, files, ("batch.py", "a"), ("batch.py", "a", "b"))
    assert "episode  solve (batch.py:" in said, said
    assert [row["task"]["id"] for row in rows] == ["a", "b"]  # type: ignore[index]


@pytest.mark.wide
def test_an_evaluation_that_had_one_row_at_first_is_no_episode(tmp_path: Path) -> None:
    """A second run shows that it goes through rows; and it shows which client was given."""
    evaluate = """\
    import sys
    from abc import ABC, abstractmethod

    from openai import OpenAI


    class Adapter(ABC):
        @abstractmethod
        def answer(self, text: str) -> str: ...


    class Canned(Adapter):
        def answer(self, text: str) -> str:
            return "sunny"


    class Live(Adapter):
        def __init__(self, tone: str = "dry"):
            self.tone = tone
            self.client = OpenAI()

        def answer(self, text: str) -> str:
            asked = [{"role": "user", "content": f"{text} Be {self.tone}."}]
            reply = self.client.chat.completions.create(model="m", messages=asked)
            return reply.choices[0].message.content


    def evaluate(row: str, adapter: Adapter) -> dict:
        said = adapter.answer(row)
        return {"row": row, "said": said, "right": "sun" in str(said)}


    def evaluate_all(rows: list[str], adapter: Adapter) -> list[dict]:
        return [evaluate(row, adapter) for row in rows]


    def adapter_of(name: str) -> Adapter:
        if name == "canned":
            return Canned()
        return Live("warm")


    def trial() -> None:
        evaluate_all(["Rome"], Live("cold"))


    if __name__ == "__main__":
        for each in evaluate_all(sys.argv[2:], adapter_of(sys.argv[1])):
            print(each)
    """
    files = {"evaluate.py": evaluate}
    rome, oslo = "How is Rome in May?", "And how is Oslo in June?"
    said, _ = shown(
        tmp_path,
        files,
        ("evaluate.py", "live", rome),
        ("evaluate.py", "live", oslo, "Is it windy in Bonn?"),
    )
    assert "episode  evaluate (evaluate.py:" in said, said
    done = art_adapt("--diff", "evaluate.py", cwd=tmp_path)
    patch = done.stdout.decode()
    assert 'evaluate(row=scenario.row, adapter=Live("warm"))' in patch, patch


@pytest.mark.wide
def test_a_command_that_goes_through_the_lines_of_a_file_is_no_episode(
    tmp_path: Path,
) -> None:
    work = """\
    import sys

    from agent import run_agent


    def main(task, file) -> None:
        for line in open(file).read().splitlines() if file else [task]:
            print(run_agent(line))


    main(*sys.argv[1:], *[None] * (3 - len(sys.argv)))
    """
    files = {
        "agent.py": LOOP,
        "work.py": work,
        "tasks.txt": "How is Rome in May?\nAnd how is Oslo in June?\n",
    }
    typed = ("work.py", "How is Lima in April?", "")
    said, rows = shown(tmp_path, files, typed, ("work.py", "", "tasks.txt"))
    assert "episode  run_agent (agent.py:" in said, said
    assert len(rows) == 3 and rows[1]["task"] == "How is Rome in May?"


@pytest.mark.wide
def test_what_makes_the_board_of_a_game_is_the_episode(tmp_path: Path) -> None:
    """No row can hold the board that is handed on, and nothing of it can be made again."""
    game = """\
    from agent import client


    class Board:
        def __init__(self, numbers):
            self.numbers = numbers


    class Table:
        async def start(self, number: int) -> None:
            self.numbers = [number * 7, number * 9]

        async def read(self) -> Board:
            return Board(list(self.numbers))


    def choose(moves: list, history: list) -> str:
        told = f"Choose one of {moves}. You chose before: {history}"
        messages = [{"role": "user", "content": told}]
        reply = client.chat.completions.create(model="m", messages=messages)
        return reply.choices[0].message.content


    async def play(table: Table, board: Board) -> int:
        history = []
        for _ in range(3):
            move = choose([f"take the number {each}" for each in board.numbers], history)
            history.append(move)
            board = await table.read()
        return len(history)


    async def demo() -> None:
        table = Table()
        await play(table, Board([1]))
    """
    bench = """\
    import asyncio
    import sys

    from game import Table, play


    async def one(number: int) -> dict:
        table = Table()
        await table.start(number)
        return {"turns": await play(table, await table.read())}


    async def main() -> None:
        for each in map(int, sys.argv[1:]):
            print(await one(each))


    asyncio.run(main())
    """
    files = {"agent.py": LOOP, "game.py": game, "bench.py": bench}
    said, rows = shown(tmp_path, files, ("bench.py", "11"))
    assert "episode  one (bench.py:" in said, said
    assert rows[0]["number"] == 11
    assert art_adapt("-y", "bench.py", cwd=tmp_path).returncode == 0
    told = art_adapt("rehearse", "bench_train.py", cwd=tmp_path).stdout.decode()
    assert "sends the run's requests (3 requests)" in told, told


@pytest.mark.wide
def test_which_demonstration_of_a_notebook_was_asked_is_seen(tmp_path: Path) -> None:
    """A tool's schema may spell what the model said: that hands no reply on."""
    notebook = LOOP + dedent("""\


    def once(messages):
        reply = client.chat.completions.create(model="m", messages=messages, tools=TOOLS)
        return reply.choices[0].message


    def run_conversation(messages, tools):
        for _ in range(4):
            reply = client.chat.completions.create(model="m", messages=messages, tools=tools)
            message = reply.choices[0].message
            messages.append(message)
            if not message.tool_calls:
                break
            for call in message.tool_calls:
                messages.append({"role": "tool", "tool_call_id": call.id, "content": look()})
        return message


    import sys

    print(once([{"role": "user", "content": "What is the weather like?"}]))
    print(run_agent("Is the weather fine today?"))
    print(run_conversation([{"role": "user", "content": sys.argv[1]}], TOOLS))
    """)
    asked = ("notebook.py", "How is the weather in Paris?")
    said, rows = shown(tmp_path, {"notebook.py": notebook}, asked)
    assert "episode  run_conversation (notebook.py:" in said, said
    (told,) = rows[0]["messages"]  # type: ignore[misc]
    assert told["content"] == "How is the weather in Paris?"


CHAT = LOOP + dedent("""\


    messages = [{"role": "system", "content": "You talk about the weather."}]
    while (text := input("You: ")) != "/exit":
        messages.append({"role": "user", "content": text})
        reply = client.chat.completions.create(model="m", messages=messages)
        messages.append({"role": "assistant", "content": reply.choices[0].message.content})
        print(messages[-1]["content"])
    """)
# How a test types to a chat, in the place of a person.
TYPES = {
    "a lambda": "typed = iter([*lines, '/exit'])\n    monkeypatch.setattr('builtins.input', lambda prompt='': next(typed))",
    "a mock": "from unittest import mock\n    monkeypatch.setattr('builtins.input', mock.Mock(side_effect=[*lines, '/exit']))",
    "a function around it": "import io, sys\n    typed = io.StringIO('\\n'.join([*lines, '/exit']) + '\\n')\n    monkeypatch.setattr('sys.stdin', typed)\n    asks = input\n    monkeypatch.setattr('builtins.input', lambda prompt='': asks(prompt))",
    "a function": "typed = iter([*lines, '/exit'])\n    def ask(prompt):\n        return next(typed)\n    monkeypatch.setattr('builtins.input', ask)",
}


@pytest.mark.wide
@pytest.mark.parametrize("kind", first_now(TYPES))
def test_what_a_test_types_to_a_chat_is_in_its_row(kind: str, tmp_path: Path) -> None:
    test = (
        "import runpy\n\nimport pytest\n\n\n"
        "@pytest.mark.parametrize('lines', [['How is Rome?'], ['And Oslo?', 'In June?']])\n"
        f"def test_chat(lines, monkeypatch):\n    {TYPES[kind]}\n"
        "    runpy.run_path('chat.py', run_name='__main__')\n"
    )
    files = {"chat.py": CHAT, "test_chat.py": test}
    _, rows = shown(tmp_path, files, ("-m", "pytest", "-q", "test_chat.py"))
    typed = [row["inputs"] for row in rows]
    assert typed == [["How is Rome?", "/exit"], ["And Oslo?", "In June?", "/exit"]]


# The default of an option that runs set, as an environment may set it.
DEFAULTS = {
    "of the environment": "int(os.environ.get('TRIP_BUDGET', 300))",
    "by getenv": "int(os.getenv('TRIP_BUDGET', '300'))",
    "of a number": "float(os.environ.get('TRIP_BUDGET', '300'))",
}


@pytest.mark.wide
@pytest.mark.parametrize("kind", first_now(DEFAULTS))
def test_an_option_that_runs_set_is_a_field(kind: str, tmp_path: Path) -> None:
    planner = f"""\
    import argparse
    import os

    from openai import OpenAI


    def plan(request: str, budget: int = 300) -> str:
        asked = [{{"role": "user", "content": f"{{request}} Budget: {{budget}} EUR"}}]
        return OpenAI().chat.completions.create(model="m", messages=asked).choices[0].message.content


    if __name__ == "__main__":
        parser = argparse.ArgumentParser()
        parser.add_argument("request")
        parser.add_argument("--budget", type=int, default={DEFAULTS[kind]})
        args = parser.parse_args()
        print(plan(args.request, args.budget))
    """
    runs = [("planner.py", "--budget", n, "A weekend in Rome.") for n in ("200", "500")]
    _, rows = shown(tmp_path, {"planner.py": planner}, *runs)
    assert [row["budget"] for row in rows] == [200, 500]


@pytest.mark.wide
@pytest.mark.parametrize("asks_too", [False, True])
def test_a_run_shows_whom_a_call_reaches(asks_too: bool, tmp_path: Path) -> None:
    """No reader finds what a plug-in's file defines, which Python finds by another folder.

    Nobody looks for it if the named file asks the model as well.
    """
    planner = """\
    from openai import OpenAI


    class Planner:
        def __init__(self):
            self.client = OpenAI()

        def plan(self, text: str) -> str:
            asked = [{"role": "user", "content": text}]
            reply = self.client.chat.completions.create(model="m", messages=asked)
            return reply.choices[0].message.content
    """
    desk = """\
    import sys
    from importlib import import_module
    from pathlib import Path

    sys.path.insert(0, str(Path(__file__).parent / "plugins"))


    def made(name: str):
        return getattr(import_module(name), name.title())()


    def take(order: str) -> str:
        first = made("planner").plan(f"What is to be done first? {order}")
        return made("planner").plan(f"And then? {order} {first}")


    if __name__ == "__main__":
        print(take(sys.argv[1]))
    """
    if asks_too:
        ask = "import OpenAI; asked = [{'role': 'user', 'content': order}]; "
        desk = desk.replace(
            "    first = made",
            f"    from openai {ask}OpenAI().chat.completions.create(model='m', messages=asked)\n"
            "        first = made",
        )
    (tmp_path / "plugins").mkdir()
    files = {"plugins/planner.py": planner, "desk.py": desk}
    commands = [("desk.py", "A sofa has to leave."), ("desk.py", "A press comes in.")]
    said, rows = shown(tmp_path, files, *commands)
    assert "episode  take (desk.py:" in said, said
    assert [row["order"] for row in rows] == [each[1] for each in commands]
    done = art_adapt("-y", "desk.py", cwd=tmp_path)
    assert done.returncode == 0, done.stderr.decode()
    hooked = tmp_path / ("desk.py" if asks_too else "plugins/planner.py")
    assert "recorded(" in hooked.read_text()
    assert "take(order=scenario.order)" in (tmp_path / "desk_train.py").read_text()


@pytest.mark.wide
def test_a_chat_that_had_one_turn_is_a_chat(tmp_path: Path) -> None:
    """What takes a turn is given the conversation: a row would hold the system prompt."""
    chat = """\
    from openai import OpenAI

    client = OpenAI()
    SYSTEM = "You keep a ledger."


    def run_turn(messages):
        reply = client.chat.completions.create(model="m", messages=messages)
        messages.append(reply.choices[0].message)
        return reply.choices[0].message.content


    def main():
        messages = [{"role": "system", "content": SYSTEM}]
        while text := input("> "):
            messages.append({"role": "user", "content": text})
            print(run_turn(messages))


    if __name__ == "__main__":
        main()
    """
    (tmp_path / "pyproject.toml").touch()
    (tmp_path / "chat.py").write_text(dedent(chat))
    options = ("capture", "--scripted", "--", sys.executable, "chat.py")
    done = art_adapt(*options, cwd=tmp_path, stdin=b"What did I spend in May?\n\n")
    assert "episode  main (chat.py:" in done.stderr.decode(), done.stderr.decode()
    assert "SYSTEM" not in (tmp_path / "scenarios.jsonl").read_text()
