"""The guided start: what is asked, what answers change, and that nothing known is asked."""

from __future__ import annotations

import os
import sys
import time
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pexpect
import pytest
from agent_files import art_adapt, first_now

COMMAND = [sys.executable, "-m", "art_adapt"]
PLAIN = {"ACCESSIBLE": "1"}
AGENT = """\
import subprocess

from openai import OpenAI

client = OpenAI()
NOTES = []
TOOLS = []


def summarize(text):
    \"\"\"A request beside the conversation.\"\"\"
    messages = [{"role": "user", "content": text}]
    response = client.chat.completions.create(model="small", messages=messages)
    return response.choices[0].message.content


def run_tool(call):
    NOTES.append(call.id)
    return subprocess.run(["make", call.function.arguments], capture_output=True).stdout


def run_agent(question: str) -> str:
    messages = [{"role": "user", "content": question}]
    for _ in range(5):
        response = client.chat.completions.create(
            model="large", messages=messages, tools=TOOLS
        )
        message = response.choices[0].message
        messages.append(message)
        if not message.tool_calls:
            return message.content
        for call in message.tool_calls:
            result = summarize(str(run_tool(call)))
            messages.append(
                {"role": "tool", "tool_call_id": call.id, "content": result}
            )
    return "gave up"
"""
SCORES = """\
TASKS = [{"question": "Who?", "expected": "me"}]


def reward(trajectory, scenario):
    return 1.0


def grade(answer, expected):
    return answer == expected
"""
CONVERSATION = """\
from openai import OpenAI

client = OpenAI()
messages: list = []


def run_agent(question: str) -> str:
    messages.append({"role": "user", "content": question})
    reply = client.chat.completions.create(model="m", messages=messages)
    messages.append(reply.choices[0].message)
    return reply.choices[0].message.content
"""
CONNECTION = """\
import sqlite3
from openai import OpenAI

client = OpenAI()
db = sqlite3.connect(":memory:", check_same_thread=False)


def run_agent(question: str) -> str:
    left = str(db.execute("select * from stock").fetchall())
    messages = [{"role": "user", "content": question + left}]
    reply = client.chat.completions.create(model="m", messages=messages)
    return reply.choices[0].message.content
"""
# The question, the answer that is not recommended, and what it writes.
OTHERWISE: dict[str, tuple[str, str, dict[str, Any], str]] = {
    "replay": (
        "run many times, in parallel",
        "b",
        {"single-turn": True},
        "class Scenario(training.RecordedRequest)",
    ),
    "isolation": (
        "shared by all episodes",
        "b",
        {"isolate": "none"},
        "@training.at_once(",
    ),
    "auxiliary": (
        "Train the request in",
        "b",
        {"policy": ["summarize"]},
        "AUXILIARY: tuple[str, ...] = ()",
    ),
    "reward": (
        "rewards an episode",
        "a",
        {"reward": "evals:reward"},
        "from evals import reward",
    ),
    "both rewards": (
        "rewards an episode",
        "c",
        {"reward": "evals:reward", "ruler-weight": 0.5},
        "judge = training.ruler(JUDGE_MODEL, RULER_WEIGHT)",
    ),
    "typed reward": (
        "rewards an episode",
        "evals:reward",
        {"reward": "evals:reward"},
        "from evals import reward",
    ),
    "objective": (
        "better than another",
        "It is brief.",
        {"rubric": "It is brief."},
        'RUBRIC = "It is brief."',
    ),
    "judge": (
        "Which model is the judge",
        "anthropic/claude",
        {"judge-model": "anthropic/claude"},
        'JUDGE_MODEL = "anthropic/claude"',
    ),
    "scenarios": (
        "scenarios come from",
        "c",
        {"scenarios": "scenarios.jsonl"},
        'SCENARIOS = "scenarios.jsonl"',
    ),
    "found list": (
        "scenarios come from",
        "a",
        {"scenarios": "evals:TASKS"},
        'SCENARIOS = "evals:TASKS"',
    ),
    "validation": (
        "out for validation",
        "7",
        {"validation-scenarios": 7},
        "VALIDATION_SCENARIOS = 7",
    ),
    "base model": (
        "Which model do you train",
        "c",
        {"base-model": "meta-llama/Llama-3.1-8B-Instruct"},
        'BASE_MODEL = "meta-llama/Llama-3.1-8B-Instruct"',
    ),
    "backend": (
        "Where do you train",
        "b",
        {"backend": "serverless"},
        'BACKEND = "serverless"',
    ),
    "project": ("name of the project", "desk", {"project": "desk"}, 'PROJECT = "desk"'),
    "run": (
        "name of this run",
        "desk-7",
        {"run-name": "desk-7"},
        'RUN_NAME = "desk-7"',
    ),
    "sizes": (
        "Learning rate",
        "2e-5 6 3",
        {"learning-rate": 2e-5, "rollouts-per-group": 6, "groups-per-step": 3},
        "ROLLOUTS_PER_GROUP = 6",
    ),
    "length": (
        "How long do you train",
        "b",
        {"epochs": 0, "max-steps": 1000},
        "EPOCHS = 0",
    ),
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "agent.py").write_text(AGENT)
    (tmp_path / "evals.py").write_text(SCORES)
    (tmp_path / "tasks.csv").write_text("question,notes\nWho?,none\n")
    return tmp_path


def spawned(
    folder: Path, environment: dict[str, str], *options: str
) -> pexpect.spawn[str]:
    guide = pexpect.spawn(
        COMMAND[0],
        [*COMMAND[1:], *options, "agent.py"],
        cwd=folder,
        env={**os.environ, **environment},  # type: ignore[arg-type]
        dimensions=(50, 60),
        encoding="utf-8",
        timeout=20,
    )
    guide.delaybeforesend = None  # it waits 50 ms before each answer otherwise
    return guide


def first_answer(guide: pexpect.spawn[str]) -> str:
    """Return the answer that is recommended, or the first: where none is, Enter is none."""
    return "" if "[a]" in str(guide.after) else "a"


def answered(
    folder: Path, answers: Sequence[tuple[str, str]], *options: str
) -> tuple[list[str], str]:
    """Answer questions, others with the first answer; return those asked, and what was said."""
    left = list(answers)
    asked: list[str] = []
    said = ""
    guide = spawned(folder, PLAIN, *options)
    while True:
        found = guide.expect(
            [
                "Answer[^:]*: ",
                r"Write these changes\?",
                r"Rehearse \S+ now\?",
                pexpect.EOF,
            ]
        )
        text = str(guide.before)
        said += text
        if found == 3:
            return asked, said
        if found > 0:
            guide.sendline("y" if found == 1 else "n")
            continue
        question = " ".join(text.split())
        asked.append(question)
        if left and left[0][0] in question:
            guide.sendline(left.pop(0)[1])
        elif "settle them" in question and "c ask me all" in question:
            guide.sendline("c")
        else:
            guide.sendline(first_answer(guide))


def configuration(folder: Path) -> dict[str, Any]:
    content = tomllib.loads((folder / "pyproject.toml").read_text())
    table: dict[str, Any] = content["tool"]["art-adapt"]
    own: dict[str, Any] = table.pop("agents")["agent.py"]
    return {**table, **own}


@pytest.mark.parametrize("name", first_now(OTHERWISE, 9))
def test_an_answer_that_is_not_recommended(name: str, folder: Path) -> None:
    question, answer, keys, line = OTHERWISE[name]
    ruler = [("rewards an episode", "b")] * (name in ("objective", "judge"))
    asked, said = answered(folder, [*ruler, (question, answer)])
    assert any(question in each for each in asked), said
    table = configuration(folder)
    assert {key: table[key] for key in keys} == keys
    module = (folder / "agent_train.py").read_text()
    assert line in module
    # The next run asks nothing, and changes nothing.
    again, said = answered(folder, [])
    assert again == [] and "Nothing to change" in said


def test_what_is_recommended_is_what_comes_unasked(
    folder: Path, tmp_path: Path
) -> None:
    other = tmp_path / "other"
    other.mkdir()
    for path in list(folder.glob("*.*")):
        (other / path.name).write_bytes(path.read_bytes())
    answered(folder, [("scenarios come from", "c"), ("rewards an episode", "b")])
    done = art_adapt("agent.py", cwd=other)
    assert done.returncode == 0
    assert b"isolate     each episode in a process of its own  (found)" in done.stdout
    assert b"each episode gets a process of its own" in done.stdout
    one, two = ((each / "agent_train.py").read_text() for each in (folder, other))
    assert one == two


def test_nothing_that_is_known_is_asked(folder: Path) -> None:
    (folder / "pyproject.toml").write_text(
        "[tool.art-adapt]\nbase-model = 'mine'  # ours\nreward = 'ruler'\n"
    )
    (folder / "scenarios.jsonl").write_text('{"question": "Who?"}\n')
    asked, _ = answered(folder, [], "--project", "x", "--epochs", "2")
    said = " ".join(asked)
    for known in (
        "model do you train?",
        "rewards an episode",
        "scenarios come from",
        "the project",
        "How long",
    ):
        assert known not in said
    assert "Which model is the judge" in said
    # What was given on the command line is not an answer, and comments stay.
    table = configuration(folder)
    assert "project" not in table and table["base-model"] == "mine"
    assert "# ours" in (folder / "pyproject.toml").read_text()


def test_what_is_recommended_follows_from_what_is_shared(folder: Path) -> None:
    """A process has its own module, but not its own files."""
    agent = folder / "agent.py"
    in_a_file = CONNECTION.replace(":memory:", "stock.db")
    for text, first in (
        (AGENT, "a yes, in a process of its own"),
        (CONVERSATION, "a yes, in a process of its own"),
        (CONNECTION, "a yes, in a process of its own"),
        (in_a_file, "a yes, in a copy of the project's folder"),
    ):
        agent.write_text(text)
        asked, _ = answered(folder, [], "--isolated")
        (question,) = [each for each in asked if "shared by all" in each]
        assert first in question
        assert art_adapt("--undo", "agent.py", cwd=folder).returncode == 0


@pytest.mark.parametrize(
    ("line", "first"),
    [
        ("subprocess.run(['make', text])", "a yes, run it as it is"),
        ("database.commit()", "a no, train on recorded requests"),
        (
            "import sqlite3; sqlite3.connect('a.db').execute('delete from a').commit()",
            "a yes, each in a copy of the project's folder",
        ),
    ],
)
def test_what_commits_is_not_run_again_and_again(
    line: str, first: str, folder: Path
) -> None:
    """A refund that is made for each rollout is not undone by a reward."""
    agent = folder / "agent.py"
    agent.write_text(
        AGENT.replace(
            "    NOTES.append(call.id)\n",
            f"    text = call.function.arguments\n    {line}\n",
        ).replace("def run_tool(call):", "def run_tool(call, database=None):")
    )
    asked, _ = answered(folder, [], "--isolated")
    (question,) = [each for each in asked if "many times, in parallel" in each]
    assert first in question


def test_recommended_answers_need_one_key(folder: Path) -> None:
    (folder / "evals.py").write_text(
        'TASKS = [{"question": "Who?", "expected": "me"}]\n'
    )
    asked, _ = answered(folder, [("settle them", "b")])
    assert len(asked) == 1
    # Only what would not have come without an answer is kept.
    assert configuration(folder) == {"scenarios": "evals:TASKS"}
    assert "@training.isolated(" in (folder / "agent_train.py").read_text()
    assert 'SCENARIOS = "evals:TASKS"' in (folder / "agent_train.py").read_text()
    # What the train module says is not asked again.
    asked, said = answered(folder, [])
    assert asked == [] and "Nothing to change" in said


def test_nothing_is_recommended_over_a_reward_that_is_there(folder: Path) -> None:
    asked, _ = answered(folder, [("settle them", "b"), ("rewards an episode", "a")])
    assert len(asked) == 2 and "judge model compares" in asked[1]
    assert "recommended" not in asked[1].partition("What rewards")[2]
    assert configuration(folder)["reward"] == "evals:reward"


def test_a_reward_that_the_rows_lack_a_key_for_comes_last(folder: Path) -> None:
    (folder / "evals.py").write_text(
        "def reward(trajectory, scenario):\n    return scenario.expected == 1\n\n\n"
        "def score_length(trajectory, scenario):\n    return len(scenario.question)\n"
    )
    (folder / "scenarios.jsonl").write_text('{"question": "Who?"}\n')
    asked, _ = answered(folder, [("settle them", "b"), ("rewards an episode", "b")])
    (told,) = [each for each in asked if "rewards an episode" in each]
    assert "a evals:score_length" in told, told
    lacks = "(reads expected, which your rows do not have yet)"
    assert told.count(lacks) == 2  # by itself and beside RULER
    assert lacks in told.partition("b evals:reward")[2].partition("c RULER")[0]
    assert configuration(folder)["reward"] == "evals:reward"


def test_back_and_what_cannot_be_taken(folder: Path) -> None:
    asked, said = answered(
        folder,
        [
            ("rewards an episode", "nope:reward"),
            ("no module nope", "b"),
            ("better than", "<"),
            ("rewards an episode", ""),  # as it was answered
            ("Learning rate", "1 2"),
            ("three numbers", "0 4 2"),
            ("not above 0", "1e-4 4 2"),
        ],
    )
    assert "enter 3 values" in said
    table = configuration(folder)
    assert table["reward"] == "ruler" and table["learning-rate"] == 1e-4
    first, again = [each for each in asked if "rewards an episode" in each]
    for each in (first, again):  # a letter means what it meant
        assert "a evals:reward" in each and "b RULER" in each
    assert "Your rows have their answers in expected" in first


@pytest.mark.parametrize("after", [0, 1, 5])
@pytest.mark.parametrize("environment", [PLAIN, {"TERM": "xterm", "ACCESSIBLE": ""}])
def test_ctrl_c_leaves_everything_as_it_was(
    folder: Path, after: int, environment: dict[str, str]
) -> None:
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    guide = spawned(folder, environment)
    for number in range(after + 1):
        guide.expect(
            [
                "settle them",
                "in parallel",
                "shared by all",
                "the request in",
                "rewards an episode",
                "better",
            ]
        )
        if number < after:
            guide.send("\r")
    if environment is PLAIN:  # a signal just before a read would not end that
        guide.expect("Answer[^:]*: ")
        time.sleep(0.5)
    guide.sendcontrol("c")
    guide.expect(pexpect.EOF)
    guide.close()
    assert "the agent was not changed" in str(guide.before)
    assert guide.exitstatus == 2
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


@pytest.mark.parametrize("colours", [{}, {"NO_COLOR": "1"}])
def test_arrow_keys(folder: Path, colours: dict[str, str]) -> None:
    # A terminal would say where its cursor is, when asked; this one does not.
    keys_only = {"TERM": "xterm", "ACCESSIBLE": "", "PROMPT_TOOLKIT_NO_CPR": "1"}
    guide = spawned(folder, {**keys_only, **colours})
    down = "\x1b[B"
    for question, keys in (
        ("settle them", [down * 2, "\r"]),
        ("Train the request", ["\r"]),
        ("times, in parallel", ["\r"]),
        ("shared by all", ["\r"]),
        ("scenarios come from", ["\r"]),
        ("rewards an episode", [down, "\r"]),
        ("better than", [down * 2, "\r"]),  # back
        ("rewards an episode", ["\r"]),  # as it was answered
        ("better than", [down, "\r"]),  # something else
        ("or two", ["It is brief.\r"]),
        ("is the judge", ["\r"]),
        ("out for validation", ["\r"]),
        ("do you train?", [down, "\r"]),
        ("Where do you train", ["\r"]),
        ("name of the project", ["\r"]),
        ("name of this run", ["\r"]),
        ("Learning rate", ["\r"]),
        ("How long", ["\r"]),
    ):
        guide.expect(question)
        guide.expect("\x1b\\[[?]7h|:")  # it has been drawn
        for key in keys:
            guide.send(key)
    guide.expect(r"\[Y/n\]")
    guide.sendline("y")
    while guide.expect([r"now\?", pexpect.EOF]) == 0:
        guide.sendline("n")
    table = configuration(folder)
    assert table["reward"] == "ruler" and table["rubric"] == "It is brief."
    assert table["base-model"] == "Qwen/Qwen3-30B-A3B-Instruct-2507"


def test_neither_pipes_nor_json_are_asked(folder: Path) -> None:
    for options in ((), ("--json",)):
        assert art_adapt(*options, "agent.py", cwd=folder).returncode == 0
        assert art_adapt("--undo", "agent.py", cwd=folder).returncode == 0
    guide = spawned(folder, PLAIN, "--json")
    guide.expect(pexpect.EOF)
    assert "Answer" not in str(guide.before)


def test_what_has_been_written_can_be_rehearsed_at_once(folder: Path) -> None:
    (folder / "scenarios.jsonl").write_text('{"question": "Who?"}\n' * 5)
    guide = spawned(folder, PLAIN)
    guide.expect("settle them")
    guide.sendline("b")
    guide.expect("rewards an episode")  # evals.py has a reward, so none is recommended
    guide.sendline("a")
    guide.expect(r"\[Y/n\]")
    guide.sendline("y")
    guide.expect(r"Rehearse agent_train.py now\?")
    guide.sendline("y")
    guide.expect("Rehearsed agent_train.py", timeout=120)
    guide.expect("Would go wrong")  # it offers no tools
    guide.expect(pexpect.EOF)
    assert "On a machine with an NVIDIA GPU" not in str(guide.before)


def test_agents_that_share_a_configuration(folder: Path) -> None:
    (folder / "pyproject.toml").write_bytes(b"[project]\r\nname = 'x'  # ours\r\n")
    (folder / "other.py").write_text(AGENT)
    answered(folder, [("name of the project", "desk")])
    asked = spawned(folder, PLAIN)
    asked.close(force=True)
    assert art_adapt("--yes", "other.py", cwd=folder).returncode == 0
    assert 'PROJECT = "desk"' in (folder / "agent_train.py").read_text()
    assert 'PROJECT = "other"' in (folder / "other_train.py").read_text()
    data = (folder / "pyproject.toml").read_bytes()
    assert data.startswith(b"[project]\r\nname = 'x'  # ours\r\n")
    assert data.count(b"\n") == data.count(b"\r\n")


def test_an_agent_in_a_package(folder: Path) -> None:
    package = folder / "app"
    package.mkdir()
    (folder / ".git").mkdir()
    (package / "__init__.py").touch()
    for name in ("agent.py", "evals.py"):
        (folder / name).rename(package / name)
    agent = package / "agent.py"
    agent.write_text(f"from app.evals import TASKS\n{agent.read_text()}")
    guide = pexpect.spawn(
        COMMAND[0],
        [*COMMAND[1:], "app/agent.py"],
        cwd=folder,
        env={**os.environ, **PLAIN},  # type: ignore[arg-type]
        encoding="utf-8",
        timeout=20,
    )
    while guide.expect(["Answer[^:]*: ", r"Write these changes\?"]) == 0:
        rewarded = "rewards an episode?" in str(guide.before)
        guide.sendline("a" if rewarded else "")
    guide.sendline("y")
    while guide.expect([r"now\?", pexpect.EOF]) == 0:
        guide.sendline("n")
    module = (package / "agent_train.py").read_text()
    assert 'SCENARIOS = "app.evals:TASKS"' in module
    assert "from .evals import reward" in module
    # A configuration in the package would come between it and who imports it.
    assert not (package / "pyproject.toml").exists()
    assert 'agents."app/agent.py"' in (folder / "pyproject.toml").read_text()


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("long.csv", "question,document\nWho?," + "x" * 200_000 + "\n"),
        ("deep.jsonl", "[" * 100_000),
        ("odd.py", "X = [{'question': {[]: 1}}]\n"),
        ("broken.py", "X = [{'question':\ndef score("),
        ("binary.jsonl", "\x00\udcff"),
    ],
)
def test_files_that_cannot_be_read_are_no_offer(
    name: str, text: str, folder: Path
) -> None:
    (folder / name).write_bytes(text.encode("utf-8", "surrogateescape"))
    asked, said = answered(folder, [])
    assert len(asked) > 10 and name not in said


def test_columns_that_are_no_fields_are_named_only(folder: Path) -> None:
    (folder / "tasks.csv").write_text("question,api_key\nWho?,sk-live-123\n")
    _, said = answered(folder, [])
    assert "api_key" in said and "sk-live-123" not in said


def test_ctrl_c_at_the_rehearsal_leaves_what_is_written(folder: Path) -> None:
    (folder / "scenarios.jsonl").write_text('{"question": "Who?"}\n' * 5)
    guide = spawned(folder, PLAIN)
    guide.expect("settle them")
    guide.sendline("b")
    guide.expect("rewards an episode")
    guide.sendline("a")
    guide.expect(r"\[Y/n\]")
    guide.sendline("y")
    guide.expect(r"now\?")
    guide.sendcontrol("c")
    guide.expect(pexpect.EOF)
    guide.close()
    assert guide.exitstatus == 0 and "not changed" not in str(guide.before)
    assert "python agent_train.py" in str(guide.before)


def test_what_is_isolated_keeps_the_configuration_as_it_is(folder: Path) -> None:
    (folder / "pyproject.toml").write_text("[tool.art-adapt]\nbase-model = 'mine'\n")
    before = (folder / "pyproject.toml").read_bytes()
    answered(folder, [], "--isolated")
    assert (folder / "pyproject.toml").read_bytes() == before


def test_a_name_that_ends_another(tmp_path: Path) -> None:
    one = "class A:\n    def run(self, question: str):\n        return ask(question)\n\n\n"
    two = "def run(question: str):\n    return ask(question)\n"
    ask = (
        "from openai import OpenAI\n\nclient = OpenAI()\n\n\ndef ask(text):\n"
        '    messages = [{"role": "user", "content": text}]\n'
        '    reply = client.chat.completions.create(model="m", messages=messages)\n'
        "    return reply.choices[0].message.content\n\n\n"
    )
    (tmp_path / "agent.py").write_text(ask + one + two)
    done = art_adapt("--entry", "run", "agent.py", cwd=tmp_path)
    assert done.returncode == 0, done.stderr.decode()
    assert "from agent import run" in (tmp_path / "agent_train.py").read_text()


def test_a_path_is_typed_as_it_reads_here_and_must_be_there(folder: Path) -> None:
    """It is kept as the train module reads it, so that a run from elsewhere finds it."""
    app = folder / "app"
    app.mkdir()
    (folder / "agent.py").rename(app / "agent.py")
    (folder / "rows.jsonl").write_text('{"question": "Who?"}\n')
    guide = pexpect.spawn(
        COMMAND[0],
        [*COMMAND[1:], "app/agent.py"],
        cwd=folder,
        env={**os.environ, **PLAIN},  # type: ignore[arg-type]
        encoding="utf-8",
        timeout=20,
    )
    said, typed = "", ["none.jsonl", "rows.jsonl"]
    while guide.expect(["Answer[^:]*: ", r"Write these changes\?"]) == 0:
        said += str(guide.before)
        wanted = "scenarios come from" in str(guide.before) or "does not exist" in str(
            guide.before
        )
        guide.sendline(typed.pop(0) if wanted else "")
    guide.sendline("y")
    while guide.expect([r"now\?", pexpect.EOF]) == 0:
        guide.sendline("n")
    assert "none.jsonl does not exist, neither here nor beside the agent" in said
    module = (app / "agent_train.py").read_text()
    assert 'SCENARIOS = "../rows.jsonl"' in module


def test_what_is_refused_anyway_is_refused_before_anything_is_asked(
    folder: Path,
) -> None:
    (folder / "art_recording.py").write_text("# ours\n")
    guide = spawned(folder, PLAIN)
    assert guide.expect(["settle them", pexpect.EOF]) == 1
    assert "a file of yours" in " ".join(str(guide.before).split())


@pytest.mark.parametrize("answer", ["n", "\x03"])  # or Ctrl-C
def test_nothing_is_kept_of_what_is_not_written(folder: Path, answer: str) -> None:
    (folder / "pyproject.toml").write_text("[tool.art-adapt]\n\n[tool.ruff]\n")
    guide = spawned(folder, PLAIN)
    while guide.expect(["Answer[^:]*: ", r"Write these changes\?"]) == 0:
        guide.sendline(first_answer(guide))
    guide.sendline(answer) if answer == "n" else guide.send(answer)
    guide.expect(pexpect.EOF)
    said = " ".join(str(guide.before).split())
    assert "othing was written" in said or "the agent was not changed" in said
    assert "--scenarios evals:TASKS" in said
    text = (folder / "pyproject.toml").read_text()
    assert text == "[tool.art-adapt]\n\n[tool.ruff]\n"


@pytest.mark.parametrize(
    "before",
    [
        "[tool]\nart-adapt.base-model = 'mine'\n",
        "[project]\nname = 'x'\n\n\n",
        "# no line end",
        "[tool.art-adapt]\r\nbase-model = 'mine'  # ours\r\n",
        None,
    ],
)
def test_answers_are_taken_back_with_the_rest(folder: Path, before: str | None) -> None:
    file = folder / "pyproject.toml"
    if before is not None:
        file.write_bytes(before.encode())
    answered(folder, ())
    assert configuration(folder)
    assert file.read_bytes().startswith((before or "").encode())
    undone = art_adapt("--undo", "agent.py", cwd=folder)
    assert undone.returncode == 0
    assert before is None or b"restored pyproject.toml" in undone.stdout
    now = file.read_bytes().decode() if file.exists() else None
    assert now == before


def test_answers_stay_with_a_train_module_that_was_edited(folder: Path) -> None:
    """Adapting again makes what the edits rest on, not what the defaults would be."""
    answered(folder, ())
    kept, module = configuration(folder), folder / "agent_train.py"
    assert kept
    module.write_text(module.read_text() + "# mine\n")
    undone = art_adapt("--undo", "agent.py", cwd=folder)
    assert (
        b"left pyproject.toml: it has the answers for agent_train.py" in undone.stdout
    )
    assert configuration(folder) == kept


def test_a_table_that_its_author_wrote_stays(folder: Path) -> None:
    before = "[tool.art-adapt.agents.'agent.py']\nbase-model = 'mine'\n"
    (folder / "pyproject.toml").write_text(before)
    assert art_adapt("agent.py", cwd=folder).returncode == 0
    undone = art_adapt("--undo", "agent.py", cwd=folder)
    assert b"left pyproject.toml: its table for agent.py" in undone.stdout
    assert (folder / "pyproject.toml").read_text() == before


def test_a_path_that_is_too_long_is_asked_again(folder: Path) -> None:
    guide = spawned(folder, PLAIN)
    while guide.expect(["Answer[^:]*: ", "Where do your scenarios come from"]) == 0:
        guide.sendline(first_answer(guide))
    guide.expect("Answer[^:]*: ")
    guide.sendline("x" * 300)
    guide.expect("Answer[^:]*: ")
    guide.sendintr()
    guide.expect(pexpect.EOF)
    assert "internal error" not in str(guide.before)


RUNS_ITSELF = (
    AGENT + "\n\nif __name__ == '__main__':\n    print(run_agent('How are you?'))\n"
)


@pytest.mark.parametrize("answer", ["b", "e", "echo nothing"])
def test_it_offers_to_watch_first(answer: str, tmp_path: Path) -> None:
    (tmp_path / "agent.py").write_text(RUNS_ITSELF)
    (tmp_path / "README.md").write_text("Run it:\n\n    $ python -X dev agent.py\n")
    (tmp_path / "Makefile").write_text("try:\n\tpython agent.py <your question>\n")
    (tmp_path / "Dockerfile").write_text('CMD ["python", "-u", "agent.py"]\n')
    (tmp_path / "test_agent.py").write_text("from agent import run_agent\n")
    guide = pexpect.spawn(
        COMMAND[0], [*COMMAND[1:], "agent.py"], cwd=tmp_path, encoding="utf-8",
        env={**os.environ, **PLAIN, "OPENAI_API_KEY": "k", "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"},
        timeout=20,
    )  # fmt: skip
    guide.expect("while art-adapt watches")
    guide.expect("a  yes, with your model: python -X dev agent.py")
    guide.expect("c  yes, with your model: python -u agent.py")
    guide.expect("d  yes, with your model: .*python.* agent.py")
    guide.expect("Answer")
    guide.sendline("f" if answer == "e" else answer)
    if answer == "echo nothing":  # which has shown nothing
        guide.expect("while art-adapt watches")
        guide.expect("Answer")
        guide.sendline("f")
    found = guide.expect(["episode  run_agent", "settle them"])
    assert (found == 0) == (answer == "b")
    if found == 0:
        guide.expect("settle them")
    guide.close(force=True)
    assert (tmp_path / "scenarios.jsonl").exists() == (answer == "b")


def test_without_a_key_the_made_up_model_is_offered_first(tmp_path: Path) -> None:
    (tmp_path / "agent.py").write_text(RUNS_ITSELF)
    (tmp_path / "README.md").write_text("    $ python agent.py\n")
    guide = spawned(tmp_path, {**PLAIN, "OPENAI_API_KEY": ""})
    guide.expect("while art-adapt watches")
    guide.expect("a  yes, with a scripted model: python agent.py")
    guide.expect(r"no\s+key\s+is\s+needed")
    guide.close(force=True)


def test_a_run_that_showed_nothing_is_offered_again(tmp_path: Path) -> None:
    """As one that was ended with Ctrl-C before it asked a model."""
    (tmp_path / "agent.py").write_text(
        "print('starting', flush=True)\ninput()\n" + AGENT
    )
    (tmp_path / "README.md").write_text("    $ python agent.py\n")
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    for _ in range(2):
        guide = spawned(tmp_path, {**PLAIN, "PATH": path})
        guide.expect("while art-adapt watches")
        guide.expect("Answer")
        guide.sendline("a")
        guide.expect("starting")
        time.sleep(0.5)  # input() misses a signal that comes just before it reads
        guide.sendintr()
        guide.expect("no request to a model was seen: the command was stopped")
        guide.close(force=True)


def test_a_command_that_cannot_be_started_is_asked_for_again(tmp_path: Path) -> None:
    (tmp_path / "agent.py").write_text(RUNS_ITSELF)
    (tmp_path / "README.md").write_text("    $ python agent.py\n")
    guide = spawned(tmp_path, PLAIN)
    guide.expect("while art-adapt watches")
    guide.expect("Answer")
    guide.sendline("no-such-command agent.py")
    guide.expect("cannot start no-such-command")
    guide.expect("while art-adapt watches")
    guide.close(force=True)


def test_after_a_run_that_failed_another_command_is_asked_for(tmp_path: Path) -> None:
    """Without a key, the scripted model answers the command that is typed as well."""
    needs = "import sys\n\nif len(sys.argv) < 2:\n    sys.exit('a question, please')\n"
    (tmp_path / "agent.py").write_text(needs + RUNS_ITSELF)
    (tmp_path / "README.md").write_text("    $ python agent.py\n")
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    guide = spawned(tmp_path, {**PLAIN, "OPENAI_API_KEY": "", "PATH": path})
    guide.expect("while art-adapt watches")
    guide.expect("Answer")
    guide.sendline("a")
    guide.expect("a question, please")
    guide.expect("while art-adapt watches")
    guide.expect(r"a\s+scripted\s+model\s+answers")
    guide.expect("Answer")
    guide.sendline("python agent.py now")
    guide.expect("episode  run_agent")
    guide.close(force=True)


def test_who_types_at_a_terminal_is_asked_about_files(tmp_path: Path) -> None:
    """What a terminal asks is a row's; what the agent writes there is everybody's."""
    writes = '\n\ndef main():\n    while True:\n        run_agent(input("> "))\n'
    text = AGENT.replace(
        "    messages =", "    open('log.txt', 'w').write(question)\n    messages =", 1
    )
    assert "log.txt" in text
    (tmp_path / "agent.py").write_text(text + writes)
    guide = spawned(tmp_path, PLAIN, "--entry", "main")
    guide.expect("settle them")
    guide.expect("Answer")
    guide.sendline("a")
    guide.expect("the agent's own turns")  # of a request to another model
    guide.expect("Answer")
    guide.sendline("a")
    guide.expect("run many times, in parallel")
    guide.expect(r"a  yes, each in a copy of the project's\s+folder")
    guide.close(force=True)


def test_what_is_typed_runs_with_the_scripted_model(tmp_path: Path) -> None:
    """Even where it is one of the commands that are offered."""
    writes = "import pathlib\n\npathlib.Path('touched.txt').write_text('')\n"
    (tmp_path / "agent.py").write_text(writes + RUNS_ITSELF)
    (tmp_path / "README.md").write_text(
        "    $ python -X dev agent.py\n    $ python -u agent.py\n"
    )
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    guide = spawned(tmp_path, {**PLAIN, "OPENAI_API_KEY": "", "PATH": path})
    guide.expect("while art-adapt watches")
    guide.expect("c  yes, with a scripted model: python -u agent.py")
    guide.expect("Answer")
    guide.sendline("python -u agent.py")
    guide.expect("episode  run_agent")
    guide.close(force=True)
    assert not (tmp_path / "touched.txt").exists()


ORCHESTRA = """\
from openai import OpenAI

client = OpenAI()
TOOLS = [{"type": "function", "function": {"name": "look"}}]


def plan(topic):
    asked = [{"role": "user", "content": f"Split {topic}."}]
    return client.chat.completions.create(model="large", messages=asked).choices[0].message.content


def work(question: str) -> str:
    messages = [{"role": "user", "content": question}]
    while True:
        reply = client.chat.completions.create(model="small", messages=messages, tools=TOOLS).choices[0].message
        messages.append(reply)
        if not reply.tool_calls:
            return reply.content
        for call in reply.tool_calls:
            messages.append({"role": "tool", "tool_call_id": call.id, "content": look(call)})


def look(call):
    return "a door"


def research(topic: str) -> str:
    return "\\n".join(work(each) for each in plan(topic).splitlines())
"""
JUDGED = """\
from openai import OpenAI

client = OpenAI()


def chat(messages, model, tools=None):
    return client.chat.completions.create(model=model, messages=messages, tools=tools).choices[0].message


def holds(text):
    verdict = chat([{"role": "user", "content": f"Is it so? {text}"}], model="tiny")
    return verdict.content == "yes"


def run_agent(question: str) -> str:
    messages = [{"role": "user", "content": question}]
    while True:
        reply = chat(messages, "small", [{"type": "function", "function": {"name": "look"}}])
        messages.append(reply)
        if not reply.tool_calls:
            return reply.content if holds(reply.content) else "I do not know."
        for call in reply.tool_calls:
            messages.append({"role": "tool", "tool_call_id": call.id, "content": "a door"})
"""


# Which models these are, a file says that nobody reads.
SET_UP = JUDGED.replace("client = OpenAI()", "client, settings = OpenAI(), load()")
SET_UP = SET_UP.replace('model="tiny"', "model=settings.guard").replace(
    '"small"', "settings.model"
)


@pytest.mark.parametrize(
    ("agent", "aside"),
    [
        (ORCHESTRA, "plan"),
        (JUDGED, "holds"),
        (f"from settings_of import load\n{SET_UP}", "holds"),
    ],
)
def test_a_side_job_stays_one_in_later_runs(
    agent: str, aside: str, tmp_path: Path
) -> None:
    """It names another model: what is answered once decides, and the next run changes nothing."""
    (tmp_path / "agent.py").write_text(agent)
    asked, _ = answered(tmp_path, [(f"Train the request in {aside} ", "b")])
    assert any(f"Train the request in {aside} " in each for each in asked)
    module = (tmp_path / "agent_train.py").read_text()
    assert configuration(tmp_path)["auxiliary"] == [aside]
    assert f'"{aside}' in module.partition("AUXILIARY")[2].partition("\n")[0]
    done = art_adapt("-y", "agent.py", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "agent_train.py").read_text() == module


GAME = """\
from openai import OpenAI


class Player:
    def __init__(self, model: str) -> None:
        self.model = model

    def say(self, role: str, text: str) -> str:
        asked = [{"role": "system", "content": role}, {"role": "user", "content": text}]
        reply = OpenAI().chat.completions.create(model=self.model, messages=asked)
        return reply.choices[0].message.content or ""


class Game:
    def __init__(self, player: Player, overseer: Player) -> None:
        self.player, self.overseer = player, overseer

    def run(self, topic: str) -> str:
        said = ""
        for _ in range(3):
            said += self.player.say("You are a player.", topic + said)
            if "veto" in self.overseer.say("You oversee.", said):
                return said
        return said


def play(topic: str) -> str:
    return Game(Player("small"), Player("large")).run(topic)
"""


@pytest.mark.parametrize(
    ("answer", "names"), [("a", []), ("b", ["large"]), ("c", ["small"])]
)
def test_which_of_several_models_is_trained_is_asked(
    answer: str, names: list[str], tmp_path: Path
) -> None:
    (tmp_path / "agent.py").write_text(GAME)
    asked, _ = answered(tmp_path, [("Whose replies are trained?", answer)])
    assert any("small (agent.py:10), large (agent.py:10)" in each for each in asked)
    module = (tmp_path / "agent_train.py").read_text()
    line = module.partition("\nAUXILIARY")[2].partition("\n")[0]
    assert all(f'"{name}"' in line for name in names) and ("()" in line) == (not names)
    done = art_adapt("-y", "agent.py", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "agent_train.py").read_text() == module
    assert b"  models  " not in done.stderr


def test_a_near_candidate_is_asked_about(tmp_path: Path) -> None:
    """Also one that is only near because of an answer before."""
    (tmp_path / "agent.py").write_text(ORCHESTRA)
    side_job = ("Train the request in plan ", "b")
    asked, _ = answered(tmp_path, [side_job, ("Which function runs one episode", "a")])
    entry = next(each for each in asked if "Which function runs one episode" in each)
    assert "research" in entry and "work" in entry
    assert configuration(tmp_path)["entry"] == "research"  # as it was before


def test_a_conversation_that_a_person_types_is_asked_about(tmp_path: Path) -> None:
    chat = CONVERSATION + (
        "\n\ndef main():\n    while (text := input('> ')) != 'quit':\n"
        "        print(run_agent(text))\n"
    )
    (tmp_path / "agent.py").write_text(chat)
    asked, _ = answered(tmp_path, [("Which function runs one episode", "b")])
    entry = next(each for each in asked if "Which function runs one episode" in each)
    assert "run_agent" in entry and "a whole conversation" in entry
    assert configuration(tmp_path)["entry"] == "main"
    module = (tmp_path / "agent_train.py").read_text()
    assert "inputs: list[str]" in module
