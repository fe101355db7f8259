"""Programs around an agent: what a run shows of folders, tests, stored vectors and requests."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from textwrap import dedent

import pytest
from agent_files import art_adapt
from test_drivers import LOOP, shown

from art_adapt.rehearsal.embeddings import embeddings

# An agent that asks twice of each text, and a worker that goes through the files of a folder.
DESK = """\
from agent import client


class Desk:
    def __init__(self, tone: str):
        self.tone = tone

    def ask(self, text: str) -> str:
        messages = [{"role": "system", "content": self.tone}, {"role": "user", "content": text}]
        reply = client.chat.completions.create(model="m", messages=messages)
        return reply.choices[0].message.content or ""


def handle(text: str, desk: Desk) -> dict:
    topic = desk.ask("Name the topic of this mail: " + text)
    return {"topic": topic, "reply": desk.ask("Answer this mail: " + text)}
"""
WORKER = """\
import json
import sys
from pathlib import Path

from desk import Desk, handle


def work_off(folder: Path, desk: Desk) -> int:
    count = 0
    for path in sorted(folder.glob("*.txt")):
        done = handle(path.read_text(), desk)
        path.with_suffix(".json").write_text(json.dumps(done))
        count += 1
    return count


print(work_off(Path(sys.argv[1]), Desk("Be short and kind.")))
"""
# Each mail is answered in view of the answers before, or of a number that they led to.
SERIAL = WORKER.replace("    count = 0\n", "    count, notes = 0, ''\n").replace(
    "handle(path.read_text(), desk)\n",
    "handle(path.read_text() + notes, desk)\n        notes += done['reply']\n",
)
COUNTED = WORKER.replace("    count = 0\n", "    count, said = 0, 0\n").replace(
    "handle(path.read_text(), desk)\n",
    "handle(f'{path.read_text()} So far {said} letters.', desk)\n"
    "        said += len(done['reply'])\n",
)


@pytest.mark.parametrize(
    ("worker", "episode"),
    [
        (WORKER, "handle (desk.py:"),
        (SERIAL, "work_off (worker.py:"),
        (COUNTED, "work_off (worker.py:"),
    ],
)
def test_what_is_run_for_each_file_of_a_folder_is_the_episode(
    worker: str, episode: str, tmp_path: Path
) -> None:
    for name, text in {"a": "The lamp is broken.", "b": "Where is my parcel?"}.items():
        (tmp_path / "in").mkdir(exist_ok=True)
        (tmp_path / "in" / f"{name}.txt").write_text(text)
    files = {"agent.py": LOOP, "desk.py": DESK, "worker.py": worker}
    said, _ = shown(tmp_path, files, ("worker.py", "in"))
    assert f"episode  {episode}" in said, said


def test_an_agent_that_is_run_several_times_in_an_episode_is_named(
    tmp_path: Path,
) -> None:
    """What goes on between its calls may belong to the episode, and nobody can tell."""
    evaluation = """\
    import sys

    from agent import run_agent
    from desk import Desk


    def evaluate(config: dict) -> list:
        found = []
        for number in config["numbers"]:
            task = Desk("Be short.").ask(f"Ask of the weather in {number} towns.") or "Is it dry?"
            found.append(run_agent(task + f" In {number} towns."))
        return found


    print(evaluate({"numbers": [3, 5]}))
    """
    files = {"agent.py": LOOP, "desk.py": DESK, "evaluation.py": evaluation}
    seen, _ = shown(tmp_path, files, ("evaluation.py",))
    assert "ran run_agent (agent.py) 2 times; if each is an episode" in seen
    told = art_adapt("--diff", "evaluation.py", cwd=tmp_path).stderr.decode()
    said = "one call of evaluate ran run_agent (agent.py) 2 times"
    assert said in told and "--entry agent:run_agent" in told, told


def test_a_test_shows_the_episode_where_reading_finds_another_agent(
    tmp_path: Path,
) -> None:
    """What it takes for a step is none of the function that reading would take."""
    agents = """\


    class Base:
        def __init__(self, history: list | None = None):
            self.messages = [*(history or [])]

        def _create(self, **given):
            return client.chat.completions.create(model="m", messages=self.messages, **given)


    class Complete(Base):
        def ask(self, query: str) -> str:
            self.messages.append({"role": "user", "content": query})
            return self._answer()

        def _answer(self) -> str:
            for _ in range(4):
                message = self._create(tools=TOOLS).choices[0].message
                self.messages.append(message)
                if not message.tool_calls:
                    return message.content
                for call in message.tool_calls:
                    seen = look(**json.loads(call.function.arguments))
                    self.messages.append({"role": "tool", "tool_call_id": call.id, "content": seen})
            return ""


    class Stream(Base):
        def ask(self, query: str):
            self.messages.append({"role": "user", "content": query})
            for chunk in self._create(stream=True):
                if chunk.choices and chunk.choices[0].delta.content:
                    yield chunk.choices[0].delta.content
    """
    other = LOOP + dedent(agents)
    desk = """\
    from agent import Stream


    def reply(question: str, history: list | None = None) -> str:
        return "".join(Stream(history).ask(question)).strip()
    """
    tried = "from desk import reply\n\n\ndef test_it():\n    assert reply('Is it dry in Rome?')\n"
    files = {"agent.py": other, "desk.py": desk, "test_desk.py": tried}
    pytested = ("-m", "pytest", "-q", "-p", "no:cacheprovider")
    replies = [{"content": "It is dry."}]
    said, rows = shown(tmp_path, files, pytested, replies=replies)
    assert "episode  reply (desk.py:" in said, said
    assert rows[0]["question"] == "Is it dry in Rome?"
    named = (
        "capture",
        "--agent",
        "agent.py",
        "--scripted",
        "--replies",
        "replies.jsonl",
    )
    done = art_adapt(*named, "--", sys.executable, *pytested, cwd=tmp_path)
    assert "episode  reply (desk.py:" in done.stderr.decode(), done.stderr.decode()


def test_adapting_takes_what_the_rows_are_of(tmp_path: Path) -> None:
    """Whichever file is named, what reading knows of it makes no difference any more."""
    command = """\
    import sys

    from work import main

    main(sys.argv[1])
    """
    work = """\
    from agent import run_agent


    def main(task: str) -> None:
        print(run_agent(task, turns=3))


    if __name__ == "__main__":
        main("Is it dry in Rome?")
    """
    files = {"agent.py": LOOP, "work.py": work, "command.py": command}
    said, _ = shown(tmp_path, files, ("command.py", "Is it dry in Oslo?"))
    episode = said.partition("episode  ")[2].split()[0]
    assert entries(tmp_path, *files) == {episode}
    notes = tmp_path / ".art-adapt" / "seen.jsonl"
    (inner,) = {"main", "run_agent"} - {episode}
    of_rows = [str(tmp_path / ("work.py" if inner == "main" else "agent.py")), inner]
    with notes.open("a") as kept:  # as if rows of this one had been written
        kept.write(json.dumps({"taken": of_rows}) + "\n")
    assert entries(tmp_path, *files) == {inner}
    shown(tmp_path, files, ("command.py", "Is it dry in Bonn?"))  # decides anew
    assert entries(tmp_path, *files) == {episode}


def entries(folder: Path, *files: str) -> set[str]:
    """Return the episodes that adapting takes, as seen, for each file that is named."""
    found = set()
    for name in files:
        done = art_adapt("--json", "--diff", name, cwd=folder)
        entry = json.loads(done.stdout)["decisions"]["entry"]
        assert entry["origin"] == "seen", name
        found.add(entry["value"].rpartition(":")[2])
    return found


def test_stored_vectors_are_found_as_in_the_run(tmp_path: Path) -> None:
    """They have three numbers here, which are no model's: the scripted one would make others."""
    store = """\
    import json
    import sys
    from pathlib import Path

    from agent import client

    INDEX = json.loads(Path(__file__).with_name("index.json").read_text())


    def answer(question: str) -> str:
        given = {"dimensions": 3} if "--small" in sys.argv else {}
        found = client.embeddings.create(model="small", input=question, **given)
        own = found.data[0].embedding
        near = [
            note
            for note, vector in INDEX.items()
            if sum(a * b for a, b in zip(own, vector, strict=True)) > 0.5
        ]
        if not near:
            return "Nothing is known of that."
        asked = [{"role": "user", "content": f"{question} Say it from: {near}"}]
        reply = client.chat.completions.create(model="m", messages=asked)
        return reply.choices[0].message.content


    if __name__ == "__main__":
        print(answer(sys.argv[1]))
    """
    notes = ["Lamps are repaired within a week.", "Parcels arrive on Fridays."]
    made = embeddings({"input": notes, "dimensions": 3, "model": "small"}, {})
    index = {n: e["embedding"] for n, e in zip(notes, made["data"], strict=True)}
    (tmp_path / "index.json").write_text(json.dumps(index))
    files = {"agent.py": LOOP, "store.py": store}
    question = "Parcels arrive on which day?"
    _, rows = shown(tmp_path, files, ("store.py", question, "--small"))
    assert [row["question"] for row in rows] == [question]
    assert art_adapt("-y", "store.py", cwd=tmp_path).returncode == 0
    told = art_adapt("rehearse", "store_train.py", cwd=tmp_path).stdout.decode()
    assert "sends the run's requests (1 request)" in told, told


def test_the_rest_that_a_class_is_given_is_taken_over(tmp_path: Path) -> None:
    solve = """\
    import sys

    from agent import client

    CONFIG = {"limits": {"turns": 2, "style": "short"}}


    class Solver:
        def __init__(self, name: str, **options):
            self.name, self.turns, self.style = name, options["turns"], options["style"]

        def run(self, task: str) -> str:
            asked = [{"role": "user", "content": f"{task} Be {self.style}."}]
            reply = client.chat.completions.create(model="m", messages=asked)
            return reply.choices[0].message.content


    print(Solver("desk", **CONFIG["limits"]).run(sys.argv[1]))
    """
    files = {"agent.py": LOOP, "solve.py": solve.replace("    print(", "    if __name__ == '__main__':\n        print(")}  # fmt: skip
    shown(tmp_path, files, ("solve.py", "Is it dry in Oslo?"))
    patch = art_adapt("--diff", "solve.py", cwd=tmp_path).stdout.decode()
    assert 'Solver(name="desk", **CONFIG["limits"])' in patch, patch


def test_what_differs_in_a_record_within_a_record_is_a_field(tmp_path: Path) -> None:
    """Its class is imported from the file that has it, and each row has its own."""
    records = """\
    from pydantic import BaseModel, Field


    class Context(BaseModel):
        headers: dict[str, str] = Field(default_factory=dict)
        address: str | None = None


    class Asked(BaseModel):
        message: str
        context: Context = Field(default_factory=Context)
    """
    desk = """\
    import sys

    import records
    from agent import TOOLS, client
    from records import Asked


    def handle(asked: Asked) -> str:
        is_staff = asked.context.headers.get("badge") == "D-205"
        given = {"tools": TOOLS} if is_staff else {}
        told = [{"role": "user", "content": asked.message}]
        reply = client.chat.completions.create(model="m", messages=told, **given)
        return reply.choices[0].message.content


    if __name__ == "__main__":
        given = records.Context(headers={"badge": sys.argv[2]})
        print(handle(Asked(message=sys.argv[1], context=given)))
    """
    files = {"agent.py": LOOP, "records.py": records, "desk.py": desk}
    one = ("desk.py", "Is it dry in Oslo?", "D-118")
    _, rows = shown(tmp_path, files, one, ("desk.py", "And in Rome?", "D-205"))
    assert [row["headers"] for row in rows] == [{"badge": "D-118"}, {"badge": "D-205"}]
    assert art_adapt("-y", "desk.py", cwd=tmp_path).returncode == 0
    module = (tmp_path / "desk_train.py").read_text()
    assert "from records import Context" in module, module
    told = art_adapt("rehearse", "desk_train.py", cwd=tmp_path).stdout.decode()
    assert "sends the run's requests (" in told, told


def test_a_run_of_one_agent_says_nothing_of_another_one(tmp_path: Path) -> None:
    """They share what asks the model, and the other one has not run."""
    helper = """\
    from agent import client


    def ask(text: str) -> str:
        messages = [{"role": "user", "content": text}]
        reply = client.chat.completions.create(model="m", messages=messages)
        return reply.choices[0].message.content or ""
    """
    one = """\
    import sys

    from helper import ask


    def solve(task: str) -> str:
        return ask("Do: " + ask("Plan: " + task) + task)


    print(solve(sys.argv[1]))
    """
    other = one.replace("solve(", "translate(").replace("Plan", "Look up")
    files = {"agent.py": LOOP, "helper.py": helper, "one.py": one, "other.py": other}
    said, _ = shown(tmp_path, files, ("one.py", "Paint the door"))
    assert "episode  solve (one.py:" in said, said
    for name, entry in {"other": "translate", "one": "solve"}.items():
        done = art_adapt("--json", "--diff", f"{name}.py", cwd=tmp_path)
        decided = json.loads(done.stdout)["decisions"]["entry"]
        origin = "seen" if name == "one" else "found"
        assert decided == {"value": entry, "origin": origin}
