"""What a program makes and gives beside the task is made in episode(), however it is called."""

from __future__ import annotations

from pathlib import Path

import pytest
from agent_files import art_adapt

AGENT = """\
from openai import OpenAI
from encoding import encode

client = OpenAI()


def run(question: str, docs: list[str], model) -> str:
    near = encode(question, docs, model)
    messages = [{"role": "user", "content": f"{near} {question}"}]
    for _ in range(5):
        message = client.chat.completions.create(model="m", messages=messages).choices[0].message
        messages.append(message)
        if not message.tool_calls:
            return message.content
    return ""
"""
ENCODING = """\
from sentence_transformers import SentenceTransformer


def encode(text, docs, model: SentenceTransformer):
    return model.encode([text, *docs])


def load_model():
    return SentenceTransformer("small")


def load_docs():
    with open("docs.txt") as file:
        return file.read().splitlines()
"""
OTHER = "\n\ndef run_fast(question, docs, model):\n    return encode(question, docs, model)\n"
IMPORTS = (
    "from agent import run, run_fast\nfrom encoding import load_docs, load_model\n"
)
# How other files call it, with what the project makes.
CALLED = {
    "typed": (
        "def main():\n    docs = load_docs()\n    model = load_model()\n    while True:\n"
        "        print(run(input('? '), docs, model))\n"
    ),
    "either of two": (
        "def main(fast=False):\n    docs = load_docs()\n    model = load_model()\n"
        "    runner = run_fast if fast else run\n    print(runner(input(), docs, model))\n"
    ),
    "by name": (
        "def main():\n    docs = load_docs()\n"
        "    print(run(model=load_model(), docs=docs, question=input()))\n"
    ),
    "for a request": (
        "from fastapi import FastAPI\nfrom pydantic import BaseModel\n\napp = FastAPI()\n"
        "class Asked(BaseModel):\n    text: str\n\n\n"
        '@app.post("/ask")\n'
        "def ask(asked: Asked):\n    return run(asked.text, load_docs(), load_model())\n"
    ),
}  # fmt: skip


def _episode(folder: Path, calls: str, agent: str = AGENT + OTHER) -> str:
    (folder / "agent.py").write_text(agent)
    (folder / "encoding.py").write_text(ENCODING)
    (folder / "main.py").write_text(f"{IMPORTS}\n\n{calls}")
    done = art_adapt("--diff", "--entry", "run", "agent.py", cwd=folder)
    assert done.returncode == 1, done.stderr
    return done.stdout.decode().partition("+def episode")[2].partition("+@training")[0]


@pytest.mark.parametrize("kind", CALLED)
def test_documents_and_an_encoder_are_no_fields(kind: str, tmp_path: Path) -> None:
    episode = _episode(tmp_path, CALLED[kind])
    assert "question=scenario.question" in episode
    for made in ("load_docs()", "load_model()"):
        assert made in episode, episode
    assert "BASE_MODEL" not in episode and "scenario.docs" not in episode


def test_programs_that_spell_it_differently_agree(tmp_path: Path) -> None:
    calls = (
        "class Resources:\n    def __init__(self):\n        self.docs = load_docs()\n"
        "        self.model = load_model()\n\n\ndef resources():\n    return Resources()\n\n\n"
        "def serve():\n    held = resources()\n    print(run(input(), held.docs, held.model))\n\n\n"
        + CALLED["typed"]
    )
    episode = _episode(tmp_path, calls)
    assert "scenario.docs" not in episode and "BASE_MODEL" not in episode


@pytest.mark.parametrize(
    "docs", ["['Rome is old']", "[line for line in input().split(',')]"]
)
def test_what_a_person_or_a_caller_says_stays_a_field(
    docs: str, tmp_path: Path
) -> None:
    calls = (
        f"def one():\n    print(run(input(), {docs}, load_model()))\n\n\n"
        "def other():\n    print(run(input(), ['Paris is new'], load_model()))\n"
    )
    assert "docs=scenario.docs" in _episode(tmp_path, calls)


STORE = """\
import json
from pathlib import Path
from openai import OpenAI


class Memory:
    def __init__(self, path="memory.json"):
        self.path = Path(path)

    def load(self):
        return json.loads(self.path.read_text()) if self.path.exists() else {}


def run(question: str, memory: dict, user: str = "me"):
    asked = [{"role": "user", "content": f"{memory} {question}"}]
    return OpenAI().chat.completions.create(model="m", messages=asked).choices[0].message.content


"""
LOADED = {
    "by a method": "    store = Memory()\n    memory = store.load()\n    print(run(input(), memory))\n",
    "in the call": "    store = Memory()\n    print(run(input(), memory=store.load()))\n",
    "by a function": "    print(run(input(), remembered()))\n\n\ndef remembered():\n    return Memory().load()\n",
}


@pytest.mark.parametrize("kind", LOADED)
def test_what_an_object_loads_is_loaded_in_each_episode(
    kind: str, tmp_path: Path
) -> None:
    (tmp_path / "agent.py").write_text(f"{STORE}def main():\n{LOADED[kind]}")
    done = art_adapt("--diff", "agent.py", "--entry", "run", cwd=tmp_path)
    episode = done.stdout.decode().partition("+def episode")[2].partition("+@")[0]
    assert ("store.load()" in episode) or ("remembered()" in episode), episode
    assert "question=scenario.question" in episode


def test_what_a_queue_was_asked_for_stays_a_field(tmp_path: Path) -> None:
    body = "    store = Memory()\n    print(run(input(), store.find(input())))\n"
    (tmp_path / "agent.py").write_text(f"{STORE}def main():\n{body}")
    done = art_adapt("--diff", "agent.py", "--entry", "run", cwd=tmp_path)
    assert b"memory=scenario.memory" in done.stdout


INDEXED = """\
from openai import OpenAI


def run(question, index=None, style="short"):
    asked = [{"role": "system", "content": f"{style} {index}"}, {"role": "user", "content": question}]
    return OpenAI().chat.completions.create(model="m", messages=asked).choices[0].message.content
"""
MAIN = """\
import argparse

from agent import run


def build():
    return {"Rome": "old"}


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--plain", action="store_true")
    parser.add_argument("--deep", action="store_true")
    parser.add_argument("question")
    args = parser.parse_args()
"""
# What a program does if nobody types an option, and what an episode is given for it.
DECIDED = {
    "not an option": ("    index = None\n    if not args.plain:\n        index = build()\n", True),
    "either": ("    index = None\n    if args.deep or not args.plain:\n        index = build()\n", True),
    "through a name": (
        "    indexed = not args.plain\n    index = None\n    if indexed:\n        index = build()\n", True
    ),
    "the other branch": (
        "    if args.plain:\n        index = None\n    else:\n        index = build()\n", True
    ),
    "an option that nobody types": ("    index = None\n    if args.deep:\n        index = build()\n", False),
}  # fmt: skip


@pytest.mark.parametrize("kind", DECIDED)
def test_options_that_nobody_types_decide_what_is_given(
    kind: str, tmp_path: Path
) -> None:
    body, built = DECIDED[kind]
    (tmp_path / "agent.py").write_text(INDEXED)
    called = "    print(run(args.question, index=index, style='legal'))\n"
    (tmp_path / "main.py").write_text(MAIN + body + called)
    done = art_adapt("--diff", "agent.py", "--entry", "run", cwd=tmp_path)
    episode = done.stdout.decode().partition("+def episode")[2].partition("+@")[0]
    assert ("index = build()" in episode) is built, episode
    assert 'style="legal"' in episode


def test_an_argument_that_cannot_be_copied_is_said(tmp_path: Path) -> None:
    (tmp_path / "agent.py").write_text(INDEXED)
    body = "    index = None\n    if args.question:\n        index = build()\n"
    called = "    print(run(args.question, index=index))\n"
    (tmp_path / "main.py").write_text(MAIN + body + called)
    done = art_adapt("--diff", "agent.py", "--entry", "run", cwd=tmp_path)
    assert b"index stays None  what main.py:" in done.stdout + done.stderr


def test_what_a_row_may_say_does_not_stay(tmp_path: Path) -> None:
    (tmp_path / "agent.py").write_text(
        "import random\nimport sys\n\nfrom openai import OpenAI\n\n\n"
        "def deal(*, rng: random.Random, seed: int | None = None) -> str:\n"
        "    messages = [{'role': 'user', 'content': f'Guess {rng.random()}'}]\n"
        "    reply = OpenAI().chat.completions.create(model='m', messages=messages)\n"
        "    return reply.choices[0].message.content\n\n\n"
        "def main():\n    seed = int(sys.argv[1])\n"
        "    print(deal(rng=random.Random(seed), seed=seed))\n\n\n"
        "if __name__ == '__main__':\n    main()\n"
    )
    done = art_adapt("--isolated", "--entry", "deal", "agent.py", cwd=tmp_path)
    module = (tmp_path / "agent_train.py").read_text()
    assert "    seed: int | None = None" in module
    assert b"seed stays" not in done.stdout


PICKED = """\
import argparse

from openai import OpenAI

SEEDS = {"easy": "abc", "hard": "xyz"}


def run(TASKseed: str | None = None, label: str = "none"):
    asked = [{"role": "user", "content": f"Improve {seed} {label}."}]
    return OpenAI().chat.completions.create(model="m", messages=asked).choices[0].message.content


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", choices=["easy", "hard"], default="easy")
    parser.add_argument("--task", required=True)
    args = parser.parse_args()
    print(run(GIVENseed=SEEDS[args.seed], label=args.seed))
"""


def test_what_a_person_picks_is_the_task_where_nothing_else_is(tmp_path: Path) -> None:
    text = PICKED.replace("TASK", "").replace("GIVEN", "")
    (tmp_path / "agent.py").write_text(text)
    done = art_adapt("--diff", "agent.py", "--entry", "run", cwd=tmp_path)
    assert b"run(seed=scenario.seed, label=scenario.label)" in done.stdout


def test_beside_a_task_what_is_picked_is_the_agents(tmp_path: Path) -> None:
    text = PICKED.replace("TASK", "task, ").replace("GIVEN", "args.task, ")
    (tmp_path / "agent.py").write_text(text)
    done = art_adapt("--diff", "agent.py", "--entry", "run", cwd=tmp_path)
    assert b'seed=SEEDS["easy"]' in done.stdout and b'label="easy"' in done.stdout
