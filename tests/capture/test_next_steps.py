"""What a watched run takes for the episode, keeps as rows, and says to do next."""

from __future__ import annotations

import json
import shlex
import sys
from pathlib import Path

import pytest
from agent_files import art_adapt

STAGES = """\
import json

from openai import OpenAI


class Puzzle:
    def __init__(self, clues):
        self.clues, self.filled = clues, {}

    def validate(self):
        return all(self.filled.get(i) == c["answer"] for i, c in enumerate(self.clues))


class Solver:
    def __init__(self, client=None, model="gpt-4o"):
        self.client, self.model = client or OpenAI(), model

    def solve(self, puzzle: Puzzle, verbose: bool = False) -> Puzzle:
        candidates = self._candidates(puzzle, "easy", verbose)
        for i, words in candidates.items():
            puzzle.filled[i] = words[0] if words else None
        return puzzle

    def _candidates(self, puzzle: Puzzle, difficulty: str, verbose: bool) -> dict:
        found = {}
        for start in range(0, len(puzzle.clues), 2):
            batch = puzzle.clues[start : start + 2]
            for i, words in self._batch(batch, difficulty).items():
                found[start + i] = words
        return found

    def _batch(self, clues, difficulty):
        text = "\\n".join(f"{i}. {c['text']}" for i, c in enumerate(clues))
        reply = self.client.chat.completions.create(
            model=self.model,
            response_format={"type": "json_object"},
            messages=[{"role": "system", "content": "You solve crosswords. Answer in JSON."}, {"role": "user", "content": text}],
        )
        try:
            return {int(k): v for k, v in json.loads(reply.choices[0].message.content).items()}
        except Exception:
            return {}
"""
STARTS = """\
import argparse
import json

from openai import OpenAI

from agent import Puzzle, Solver


def solve_puzzle(puzzle_file, verbose=False, model="gpt-4o"):
    puzzle = Puzzle(json.load(open(puzzle_file)))
    return Solver(client=OpenAI(), model=model).solve(puzzle, verbose=verbose)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--puzzle", default="easy.json")
    parser.add_argument("--verbose", action="store_true")
    args = parser.parse_args()
    print(solve_puzzle(puzzle_file=args.puzzle, verbose=args.verbose).validate())


if __name__ == "__main__":
    main()
"""
SAYS = """\
import sys
from openai import OpenAI


def answer(task: str) -> str:
    asked = [{"role": "user", "content": task}]
    return OpenAI().chat.completions.create(model="m", messages=asked).choices[0].message.content


if __name__ == "__main__":
    said = answer(sys.argv[1])
    if len(sys.argv) > 2:
        answer(f"Say it again, in other words: {said}")
"""


def watched(folder: Path, *command: str, more: tuple[str, ...] = ()) -> tuple[int, str]:
    run = ("capture", "--scripted", *more, "--", sys.executable, *command)
    done = art_adapt(*run, cwd=folder)
    return done.returncode, done.stderr.decode()


def crossword(folder: Path, starts: str) -> str:
    """Watch a run of a solver that ``starts`` makes, and return what was said."""
    (folder / "pyproject.toml").touch()
    (folder / "agent.py").write_text(STAGES)
    (folder / "main.py").write_text(starts)
    texts = ("A feline friend", "A dairy farm animal", "A drop of sadness")
    clues = [{"text": text, "answer": "CAT"} for text in texts]
    (folder / "easy.json").write_text(json.dumps(clues))
    return watched(folder, "main.py", "--puzzle", "easy.json", "--verbose")[1]


@pytest.mark.wide
def test_a_private_stage_is_no_episode_beside_its_method(tmp_path: Path) -> None:
    """Nothing around the method takes what a row can hold, so it is the episode."""
    call = "solve_puzzle(puzzle_file=args.puzzle, verbose=args.verbose)"
    made = "Solver(client=OpenAI()).solve(Puzzle(json.load(open(args.puzzle))), args.verbose)"
    assert call in STARTS
    said = crossword(tmp_path, STARTS.replace(call, made))
    assert "episode  Solver.solve (agent.py:" in said, said


@pytest.mark.wide
def test_what_makes_an_object_that_no_row_can_hold_is_the_episode(
    tmp_path: Path,
) -> None:
    said = crossword(tmp_path, STARTS)
    assert "episode  solve_puzzle (main.py:" in said, said
    (row,) = (tmp_path / "scenarios.jsonl").read_text().splitlines()
    assert json.loads(row)["puzzle_file"] == "easy.json"


@pytest.mark.wide
@pytest.mark.parametrize("read", ["ast.literal_eval", "json.loads"])
def test_a_scripted_reply_is_the_task_of_no_row(read: str, tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").touch()
    (tmp_path / "agent.py").write_text(
        "import ast, json\nfrom openai import OpenAI\n\n\ndef compose(theme, checked=True):\n"
        "    text = f'Complete this counterpoint: {theme}'\n    for _ in range(3):\n"
        "        asked = [{'role': 'user', 'content': text}]\n"
        "        reply = OpenAI().chat.completions.create(model='m', messages=asked)\n"
        "        try:\n"
        f"            found = {read}(reply.choices[0].message.content)\n"
        "        except Exception:\n            continue\n"
        "        if not checked or max(found['Counterpoint']) < 90:\n            return found\n"
        "    return None\n"
    )
    (tmp_path / "main.py").write_text(
        "from agent import compose\n\nraw = compose('60, 62, 65', checked=False)\nprint(compose(raw, checked=True))\n"
    )
    said = '{"Counterpoint": [47, 46, 24], "CantusFirmus": [26, 25, 32]}'
    rows = json.dumps({"content": said})
    (tmp_path / "replies.jsonl").write_text(f"{rows}\n{rows}\n")
    watched(tmp_path, "main.py", more=("--replies", "replies.jsonl"))
    kept = (tmp_path / "scenarios.jsonl").read_text().splitlines()
    assert [json.loads(row)["theme"] for row in kept] == ["60, 62, 65"]


@pytest.mark.wide
def test_an_agent_in_another_folder_is_to_be_named(tmp_path: Path) -> None:
    here, there = tmp_path / "here", tmp_path / "there"
    for folder in (here, there):
        folder.mkdir()
        (folder / "pyproject.toml").touch()
    (there / "agent.py").write_text(SAYS)
    run = ("-c", "import agent; agent.answer('How is the weather?')")
    with pytest.MonkeyPatch.context() as own:
        own.setenv("PYTHONPATH", f"{there}")
        code, said = watched(here, *run)
        assert code == 2 and "next: name a file of the agent, with --agent PATH" in said
        code, said = watched(here, *run, more=("--agent", f"{there / 'agent.py'}"))
    assert code == 0 and "1 new row" in said, said


@pytest.mark.wide
def test_an_adapted_agent_is_rehearsed_next(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").touch()
    (tmp_path / "agent.py").write_text(SAYS)
    assert art_adapt("--yes", "--isolated", "agent.py", cwd=tmp_path).returncode == 0
    done = art_adapt("agent_train.py", cwd=tmp_path)
    assert done.returncode == 2
    assert b"this is the train module of agent.py" in done.stderr
    (tmp_path / "main.py").write_text(
        "from agent import answer\n\nprint(answer('How?'))\n"
    )
    _, said = watched(tmp_path, "main.py")
    assert "next: art-adapt rehearse agent_train.py" in said, said


TWO_SIDES = """\
from openai import OpenAI


class Side:
    def __init__(self, prompt):
        self.prompt = prompt

    def say(self, heard):
        asked = [{"role": "system", "content": self.prompt}, {"role": "user", "content": str(heard)}]
        return OpenAI().chat.completions.create(model="m", messages=asked).choices[0].message.content


def main() -> None:
    heard = []
    for side in (Side("You know: " + input("What? ")), Side("You guess.")) * 2:
        heard.append(side.say(heard))
    print(heard[-1])


if __name__ == "__main__":
    main()
"""


def test_a_function_that_is_named_gets_its_rows_without_a_model(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").touch()
    (tmp_path / "agent.py").write_text(TWO_SIDES)
    typed = f"{sys.executable} -c \"import sys, io; sys.stdin = io.StringIO('a lighthouse'); import agent; agent.main()\""
    run = ("capture", "--scripted", "--entry", "main", "--", *shlex.split(typed))
    done = art_adapt(*run, cwd=tmp_path)
    assert done.returncode == 0, done.stderr.decode()
    assert b"next: art-adapt --entry main agent.py" in done.stderr, done.stderr
    (row,) = map(json.loads, (tmp_path / "scenarios.jsonl").read_text().splitlines())
    assert row["inputs"] == ["a lighthouse"]
    assert art_adapt("--entry", "main", "agent.py", cwd=tmp_path).returncode == 0
    done = art_adapt("rehearse", "agent_train.py", cwd=tmp_path)
    assert b"sends the run's requests (4 requests)" in done.stdout, done.stdout.decode()


CASES = """\
import sys

from openai import OpenAI

client = OpenAI()


def chat(system, user):
    messages = [{"role": "system", "content": system}, {"role": "user", "content": user}]
    reply = client.chat.completions.create(model="m", messages=messages)
    return reply.choices[0].message.content


def validate(case: str) -> tuple[bool, str]:
    reply = chat("Is this a legal case? Answer VALID: YES or NO.", case)
    return "VALID: YES" in reply, reply


def run_case(case: str) -> str:
    facts = chat("You are the investigator.", case)
    defence = chat("You are the defence.", f"{case} {facts}")
    return chat("You are the judge.", f"{case} {facts} {defence}")


def main():
    valid, why = validate(sys.argv[1])
    if not valid:
        print("Invalid:", why)
        sys.exit(STATUS)
    print(run_case(sys.argv[1]))


if __name__ == "__main__":
    main()
"""


@pytest.mark.parametrize(("status", "entry"), [(1, "run_case"), (0, "validate")])
def test_a_command_that_fails_decides_nothing_against_reading(
    status: int, entry: str, tmp_path: Path
) -> None:
    (tmp_path / "main.py").write_text(CASES.replace("STATUS", str(status)))
    (tmp_path / "pyproject.toml").touch()
    command = (sys.executable, "main.py", "Smith sues Jones about a fence.")
    art_adapt("capture", "--scripted", "--", *command, cwd=tmp_path)
    done = art_adapt("main.py", "--diff", cwd=tmp_path)
    said = " ".join(done.stderr.decode().split())
    assert f"entry {entry} " in said
    assert ("which an error ended" in said) is (status == 1)


def test_a_driver_elsewhere_runs_the_project_in_which_somebody_works(
    tmp_path: Path,
) -> None:
    project, elsewhere = tmp_path / "project", tmp_path / "elsewhere"
    for folder in (project, elsewhere):
        folder.mkdir()
    (project / "pyproject.toml").touch()
    (project / "agent.py").write_text(SAYS.partition("\n\nif __name__")[0])
    driver = elsewhere / "once.py"
    driver.write_text(
        "import sys\nsys.path.insert(0, '.')\n"
        "from agent import answer\nprint(answer('Why is the sky blue?'))\n"
    )
    command = (sys.executable, str(driver))
    done = art_adapt("capture", "--scripted", "--", *command, cwd=project)
    assert b"next: art-adapt agent.py" in done.stderr, done.stderr
    row = json.loads((project / "scenarios.jsonl").read_text())
    assert row["task"] == "Why is the sky blue?"


@pytest.mark.wide
def test_an_adapted_agent_gets_rows_of_a_scripted_run_as_well(tmp_path: Path) -> None:
    """They are of the function that its train module runs, however it is started."""
    (tmp_path / "pyproject.toml").touch()
    agent = (
        "import sys\n\nfrom openai import OpenAI\n\nclient = OpenAI()\n\n\n"
        "def ask(question: str) -> str:\n"
        "    asked = [{'role': 'user', 'content': question}]\n"
        "    reply = client.chat.completions.create(model='m', messages=asked)\n"
        "    return reply.choices[0].message.content\n\n\n"
        "def main(topic: str) -> None:\n    print(ask('Tell me of ' + topic))\n\n\n"
        "if __name__ == '__main__':\n    main(sys.argv[1])\n"
    )
    (tmp_path / "agent.py").write_text(agent)
    assert art_adapt("-y", "--entry", "ask", "agent.py", cwd=tmp_path).returncode == 0
    for command in (["agent.py", "lamps"], ["-m", "agent", "parcels"]):
        run = ("capture", "--scripted", "--", sys.executable, *command)
        done = art_adapt(*run, cwd=tmp_path)
        assert done.returncode == 0, done.stderr.decode()
        assert "next: art-adapt rehearse agent_train.py" in done.stderr.decode()
    rows = (tmp_path / "scenarios.jsonl").read_text().splitlines()
    questions = [json.loads(row)["question"] for row in rows]
    assert questions[-2:] == ["Tell me of lamps", "Tell me of parcels"]
