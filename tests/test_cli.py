"""What a user is told: modes, exit codes, streams, and every bad input as one clear message with nothing written."""

from __future__ import annotations

import ast
import json
import os
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from agent_files import ONE_CALL, art_adapt, copy_of, files_of, write_reward

from art_adapt.commands import COMMANDS
from art_adapt.commands.adapt import app as adapt
from art_adapt.commands.flags import options_from
from art_adapt.pyproject import with_configuration
from art_adapt.settings import SETTINGS, Options, Origin, Setting


@pytest.fixture
def agent(tmp_path: Path) -> Path:
    path = tmp_path / "agent.py"
    path.write_text(ONE_CALL)
    return path


def refused(folder: Path, *arguments: str, stdin: bytes = b"") -> str:
    """Run, expect exit code 2 with one message on standard error and nothing written, and return the message."""
    before = files_of(folder)
    done = art_adapt(*arguments, cwd=folder, stdin=stdin)
    message = done.stderr.decode()
    assert done.returncode == 2, done.stdout.decode() + message
    assert files_of(folder) == before
    assert message.startswith("art-adapt: ") and "Traceback" not in message
    assert "internal error" not in message
    return message


# --------------------------------------------------------------------------- modes


def test_adapts_and_says_what_it_did(agent: Path) -> None:
    done = art_adapt("--isolated", "agent.py", cwd=agent.parent)
    assert done.returncode == 0 and done.stderr == b""
    said = done.stdout.decode()
    for part in (
        "policy call agent.py:8  client.chat.completions.create",
        "the local list messages",
        "entry point agent.py:6  run(task: str) -> str",
        "exit        agent.py:9  response.choices[0].message.content  returned",
        "edited agent.py",
        "wrote art_recording.py",
        "wrote agent_train.py",
        'Next: write scenarios.jsonl, one scenario per line: {"task": ...}',
    ):
        assert part in said
    assert "\x1b" not in said


@pytest.mark.parametrize(
    ("options", "row", "lacks"),
    [
        ((), {"task": "t"}, ""),
        ((), {"question": "t"}, "The rows of scenarios.jsonl lack task."),
        (
            ("--single-turn",),
            {"task": "t"},
            "The rows of scenarios.jsonl lack messages.",
        ),
    ],
)
def test_rows_of_another_episode_are_told(
    options: tuple[str, ...], row: dict[str, str], lacks: str, agent: Path
) -> None:
    agent.with_name("scenarios.jsonl").write_text(json.dumps(row))
    done = art_adapt("--isolated", *options, "agent.py", cwd=agent.parent)
    said = done.stdout.decode()
    assert lacks in said
    assert ("Next: read agent_train.py" in said) is (not lacks)


def test_a_patch_is_taken_in_a_folder_of_the_checkout(
    agent: Path, tmp_path: Path
) -> None:
    """Names start at its top, as those of git diff do: git apply passes over any other."""
    subprocess.run(["git", "init", "-q"], cwd=tmp_path, check=True)
    below = tmp_path / "apps" / "desk"
    below.mkdir(parents=True)
    agent.rename(below / "agent.py")
    patch = art_adapt("--isolated", "--diff", "agent.py", cwd=below).stdout
    assert b"--- a/apps/desk/agent.py" in patch
    subprocess.run(["git", "apply"], input=patch, cwd=below, check=True)
    patched = files_of(below)
    assert "agent_train.py" in {Path(name).name for name in patched}
    assert art_adapt("--undo", "agent.py", cwd=below).returncode == 0
    assert art_adapt("--isolated", "agent.py", cwd=below).returncode == 0
    assert files_of(below) == patched


def test_the_patch_gives_the_same_bytes_as_writing(agent: Path, tmp_path: Path) -> None:
    """Also with CRLF, without a final newline, and with bytes that are no UTF-8."""
    odd = agent.with_name("odd.py")
    odd.write_bytes(
        "# coding: latin-1\nX = 'é'\n".encode("latin-1")
        + ONE_CALL.replace("\n", "\r\n").encode().rstrip()
    )
    git = [
        "git",
        "-c",
        "core.autocrlf=false",
        "-c",
        "user.name=t",
        "-c",
        "user.email=t@t",
    ]
    subprocess.run([*git, "init", "-q"], cwd=tmp_path, check=True)
    for name in ("agent.py", "odd.py"):
        patch = art_adapt("--isolated", "--diff", name, cwd=tmp_path)
        assert patch.returncode == 1
        assert b"policy call" in patch.stderr
        assert art_adapt("--isolated", name, cwd=tmp_path).returncode == 0
        written = files_of(tmp_path)
        assert art_adapt("--undo", name, cwd=tmp_path).returncode == 0
        subprocess.run(
            [*git, "apply", "-"], input=patch.stdout, cwd=tmp_path, check=True
        )
        assert files_of(tmp_path) == written
        unpatch = art_adapt("--undo", "--diff", name, cwd=tmp_path)
        assert unpatch.returncode == 1
        assert art_adapt("--undo", name, cwd=tmp_path).returncode == 0
        restored = files_of(tmp_path)
        subprocess.run(
            [*git, "apply", "-"], input=patch.stdout, cwd=tmp_path, check=True
        )
        subprocess.run(
            [*git, "apply", "-"], input=unpatch.stdout, cwd=tmp_path, check=True
        )
        assert files_of(tmp_path) == restored


def test_diff_writes_nothing_and_is_empty_when_there_is_nothing_to_do(
    agent: Path,
) -> None:
    before = files_of(agent.parent)
    assert (
        art_adapt("--isolated", "--diff", "agent.py", cwd=agent.parent).returncode == 1
    )
    assert files_of(agent.parent) == before
    art_adapt("--isolated", "agent.py", cwd=agent.parent)
    done = art_adapt("--isolated", "--diff", "agent.py", cwd=agent.parent)
    assert (done.returncode, done.stdout) == (0, b"")


def test_json_says_everything(agent: Path) -> None:
    done = art_adapt("--isolated", "--json", "agent.py", cwd=agent.parent)
    said = json.loads(done.stdout)
    assert said["written"] and said["policy"] == ["agent.py:8"]
    assert said["files"][0]["calls"][0]["callee"] == "client.chat.completions.create"
    assert said["decisions"]["entry"] == {"value": "run", "origin": "found"}
    assert said["decisions"]["backend"] == {"value": "local", "origin": "default"}
    assert {change["path"] for change in said["changes"]} == {
        "agent.py",
        "art_recording.py",
        "agent_train.py",
    }


def test_names_of_the_agent_do_not_meet_those_of_the_train_module(
    tmp_path: Path,
) -> None:
    for name in ("train", "main", "Scenario", "episode", "training", "scenario"):
        text = ONE_CALL.replace("def run(", f"def {name}(")
        (tmp_path / "agent.py").write_text(text)
        done = art_adapt("--isolated", "--entry", name, "agent.py", cwd=tmp_path)
        assert done.returncode == 0, done.stderr.decode()
        module = (tmp_path / "agent_train.py").read_text()
        assert f"from agent import {name} as agent_{name}\n" in module
        assert f"    return agent_{name}(task=scenario.task)\n" in module
        art_adapt("--undo", "agent.py", cwd=tmp_path)


def test_undo_is_not_misled_by_a_start_recording(agent: Path) -> None:
    agent.with_name("camera.py").write_text("def start_recording(): ...\n")
    before = files_of(agent.parent)
    assert art_adapt("--isolated", "agent.py", cwd=agent.parent).returncode == 0
    assert art_adapt("--undo", "agent.py", cwd=agent.parent).returncode == 0
    assert files_of(agent.parent) == before


def test_undo_with_hooks_in_two_folders(tmp_path: Path) -> None:
    (tmp_path / "cli").mkdir()
    (tmp_path / "llm.py").write_text(ONE_CALL.replace("def run", "def ask"))
    (tmp_path / "cli" / "bot.py").write_text(
        "from llm import ask\n\n\ndef handle(client, question: str) -> str:\n"
        "    client.chat.completions.create(messages=[])\n    return ask(question)\n"
    )
    before = files_of(tmp_path)
    options = ("--isolated", "--no-train-module", "cli/bot.py")
    assert art_adapt(*options, cwd=tmp_path).returncode == 0
    assert len(list(tmp_path.rglob("art_recording.py"))) == 2
    assert art_adapt("--undo", "cli/bot.py", cwd=tmp_path).returncode == 0
    assert files_of(tmp_path) == before


def test_json_of_a_diff_writes_nothing(agent: Path) -> None:
    before = files_of(agent.parent)
    done = art_adapt("--isolated", "--diff", "--json", "agent.py", cwd=agent.parent)
    assert (done.returncode, done.stderr, files_of(agent.parent)) == (1, b"", before)
    assert json.loads(done.stdout)["written"] is False


def test_standard_input(agent: Path) -> None:
    done = art_adapt("--isolated", "-", cwd=agent.parent, stdin=ONE_CALL.encode())
    assert done.returncode == 0
    assert b"recorded(client.chat.completions.create)(" in done.stdout
    back = art_adapt("--undo", "-", cwd=agent.parent, stdin=done.stdout)
    assert back.stdout == ONE_CALL.encode()
    assert list(agent.parent.iterdir()) == [agent]


def test_undo_leaves_what_somebody_edited(agent: Path) -> None:
    art_adapt("--isolated", "agent.py", cwd=agent.parent)
    module = agent.with_name("agent_train.py")
    module.write_text(module.read_text().replace("EPOCHS = 3", "EPOCHS = 4"))
    done = art_adapt("--undo", "agent.py", cwd=agent.parent)
    assert done.returncode == 0
    assert b"left agent_train.py: it has been edited" in done.stdout
    assert agent.read_text() == ONE_CALL
    assert b"removed art_recording.py" in done.stdout  # the module needs it no more


def test_undo_keeps_the_recorder_for_a_file_that_still_uses_it(agent: Path) -> None:
    agent.with_name("other.py").write_text(ONE_CALL)
    art_adapt("--isolated", "agent.py", cwd=agent.parent)
    art_adapt("--isolated", "other.py", cwd=agent.parent)
    done = art_adapt("--undo", "agent.py", cwd=agent.parent)
    assert b"left art_recording.py: other.py still uses it" in done.stdout
    assert (
        b"removed art_recording.py"
        in art_adapt("--undo", "other.py", cwd=agent.parent).stdout
    )


def test_a_new_call_in_an_adapted_file_gets_only_its_hook(agent: Path) -> None:
    art_adapt("--isolated", "agent.py", cwd=agent.parent)
    grown = (
        agent.read_text()
        + "\n\ndef also(messages):\n    return client.chat.completions.create(model='m', messages=messages)\n"
    )
    agent.write_text(grown)
    assert (
        art_adapt(
            "--isolated", "agent.py", "--entry", "run", cwd=agent.parent
        ).returncode
        == 0
    )
    assert agent.read_text() == grown.replace(
        "return client.chat.completions.create(",
        "return recorded(client.chat.completions.create)(",
    )


def test_edited_train_modules_are_not_overwritten(agent: Path) -> None:
    art_adapt("--isolated", "agent.py", cwd=agent.parent)
    module = agent.with_name("agent_train.py")
    edited = module.read_text().replace("EPOCHS = 3", "EPOCHS = 4")
    module.write_text(edited)
    before = files_of(agent.parent)
    # What would be written is what was written, so the edits stay.
    done = art_adapt("--isolated", "agent.py", cwd=agent.parent)
    assert done.returncode == 0 and b"Nothing to change" in done.stdout
    assert files_of(agent.parent) == before
    done = art_adapt("--isolated", "--max-steps", "7", "agent.py", cwd=agent.parent)
    assert done.returncode == 2 and files_of(agent.parent) == before
    assert b"-EPOCHS = 4" in done.stdout and b"--force" in done.stderr
    assert (
        art_adapt("--isolated", "--force", "agent.py", cwd=agent.parent).returncode == 0
    )
    assert "EPOCHS = 3" in module.read_text()


def test_options_reach_the_train_module(agent: Path) -> None:
    write_reward(agent.parent, ["rewards:exact"])
    agent.with_name("pyproject.toml").write_text(
        '[tool.art-adapt]\nproject = "shop"\nepochs = 9\nlearning-rate = 2e-5\nreward = "rewards:exact"\n'
    )
    done = art_adapt(
        "agent.py",
        "--epochs",
        "2",
        "--backend",
        "serverless",
        "--base-model",
        "my/model",
        cwd=agent.parent,
    )
    assert done.returncode == 0
    said = done.stdout.decode()
    assert (
        "project     shop  (config)" in said
        and "backend     serverless  (flag)" in said
    )
    module = agent.with_name("agent_train.py").read_text()
    for line in (
        'PROJECT = "shop"',
        "EPOCHS = 2  # 0",
        '{"learning_rate": 2e-05}',
        'BACKEND = "serverless"',
        'BASE_MODEL = "my/model"',
        "from rewards import exact as score",
    ):
        assert line in module
    assert "ruler" not in module


def test_auxiliary_and_policy_can_be_said(tmp_path: Path) -> None:
    folder = copy_of("judge_and_policy", tmp_path)
    art_adapt("--isolated", "--policy", "judge", "agent.py", cwd=folder)
    assert (folder / "agent.py").read_text().count("recorded(") == 2
    art_adapt("--undo", "agent.py", cwd=folder)
    done = art_adapt("--isolated", "agent.py", cwd=folder)
    assert (folder / "agent.py").read_text().count("recorded(") == 1
    assert b"auxiliary" in done.stdout


@pytest.mark.parametrize("has_git", [False, True])
def test_a_folder_stands_for_its_agents(
    has_git: bool, tmp_path: Path, agent: Path
) -> None:
    library = tmp_path / "venv" / "lib" / "site-packages" / "library.py"
    library.parent.mkdir(parents=True)
    library.write_text(ONE_CALL)
    if has_git:  # which nobody has told to ignore venv
        subprocess.run(["git", "init", "-q"], cwd=tmp_path, check=True)
    assert art_adapt("--isolated", ".", cwd=tmp_path).returncode == 0
    assert "recorded(" in agent.read_text()
    assert library.read_text() == ONE_CALL


def test_a_folder_with_a_repository_in_it(tmp_path: Path) -> None:
    inner = tmp_path / "inner"
    inner.mkdir()
    (inner / "agent.py").write_text(ONE_CALL)
    for folder in (tmp_path, inner):
        subprocess.run(["git", "init", "-q"], cwd=folder, check=True)
    assert art_adapt("--isolated", ".", cwd=tmp_path).returncode == 0
    assert "recorded(" in (inner / "agent.py").read_text()


def test_each_file_is_read_and_parsed_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "agents"
    folder.mkdir()
    (folder / "__init__.py").touch()
    for name in ("one", "two", "three"):
        (folder / f"{name}.py").write_text(ONE_CALL.replace("gpt-4o", name))
    (folder / "two.py").write_text(
        "from .one import run as first\n" + (folder / "two.py").read_text()
    )
    agents = {path: path.read_bytes() for path in folder.glob("[!_]*.py")}
    read: Counter[Path] = Counter()
    parsed: Counter[bytes] = Counter()
    read_bytes, parse = Path.read_bytes, ast.parse

    def counted_read(path: Path) -> bytes:
        read[path] += 1
        return read_bytes(path)

    def counted_parse(source: Any, *arguments: Any, **options: Any) -> Any:
        parsed[source] += 1
        return parse(source, *arguments, **options)

    monkeypatch.setattr(Path, "read_bytes", counted_read)
    monkeypatch.setattr(ast, "parse", counted_parse)
    monkeypatch.chdir(tmp_path)
    for arguments in ([], ["--agents-only"], ["agents/one.py"]):
        read.clear()
        parsed.clear()
        command = ["--isolated", "--diff", "--no-train-module", *arguments, "agents"]
        with pytest.raises(SystemExit) as ended:
            adapt(command, prog_name="art-adapt")
        assert ended.value.code == 1
        assert {path: read[path] for path in agents} == dict.fromkeys(agents, 1)
        assert [parsed[data] for data in agents.values()] == [1, 1, 1]


def test_an_entry_point_in_another_file(tmp_path: Path) -> None:
    (tmp_path / "llm.py").write_text(ONE_CALL.replace("def run", "def ask"))
    (tmp_path / "bot.py").write_text(
        "from llm import ask\n\n\ndef handle(question: str) -> str:\n    return ask(question)\n"
    )
    assert (
        art_adapt(
            "--isolated", "llm.py", "--entry", "bot:handle", cwd=tmp_path
        ).returncode
        == 0
    )
    assert "from bot import handle" in (tmp_path / "bot_train.py").read_text()
    assert "return final_answer(ask(question))" in (tmp_path / "bot.py").read_text()


# --------------------------------------------------------------------------- bad input


@pytest.mark.parametrize(
    ("name", "data", "expected"),
    [
        ("broken.py", b"x = (1,\ny = [2", "broken.py:2:5: syntax error"),
        ("two.py", b"import openai\nprint 'hello'\nopenai.chat.completions.create()\n", "two.py:2:1: Python 2 source"),
        ("binary.py", b"\x7fELF\x00\x01\x02\x00", "binary.py: a binary file"),
        ("latin.py", "# comment: é\nx = 1\n".encode("latin-1"), "not valid Python: invalid or missing encoding"),
        ("punycode.py", b"# coding: punycode\nimport openai\n", "cannot decode this file as punycode"),
        ("newer.py", b"import openai\ntry:\n    pass\nexcept ValueError, TypeError:\n    pass\n", "newer.py:4:8: newer syntax than that of Python"),
        ("former.py", b"import openai\ntry:\n    pass\nexcept ValueError, error:\n    pass\n", "former.py:4:8: Python 2 source"),
        (os.fsdecode(b"ag\xffent.py"), b"import openai\n", "the file name is not valid text"),
        ("cookie.py", b"# coding: no-such-code\n", "not valid Python: unknown encoding"),
        ("book.ipynb", b"{}", "book.ipynb: a notebook"),
        ("plain.py", b"x = 1\n", "no completion call found"),
        ("empty.py", b"", "no completion call found"),
        ("litellm_.py", b"import litellm\nlitellm.text_completion(model='m', prompt='x')\n", "litellm_.py:2: the model is called through litellm.text_completion"),
        ("old.py", b"import openai\nopenai.ChatCompletion.create(model='m', messages=[])\n", "old.py:2: the model is called through the API of openai 0.x"),
        ("text_.py", b"from openai import OpenAI\ndef run(p):\n    return OpenAI().completions.create(model='m', prompt=p)\n", "cannot record OpenAI().completions.create"),
        ("chain.py", b"from langchain_openai import ChatOpenAI\n", "through LangChain"),
        ("http.py", b"import requests\nrequests.post('https://api.openai.com/v1/chat/completions')\n", "http.py:2: the model is called through a completion over raw HTTP"),
        ("ours.py", b"import art\n\n\nasync def rollout(model):\n    t = art.Trajectory()\n    model.openai_client().chat.completions.create(messages=[])\n", "ours.py:5: this file already uses ART"),
        ("script.py", b"from openai import OpenAI\nOpenAI().chat.completions.create(model='m', messages=[])\n", "script.py:2: the agent runs at module level"),
    ],
)  # fmt: skip
def test_unusable_files(tmp_path: Path, name: str, data: bytes, expected: str) -> None:
    (tmp_path / name).write_bytes(data)
    message = refused(tmp_path, "--isolated", name)
    assert expected in message
    assert len(message.splitlines()) <= 7  # with what to write there


def test_missing_files_and_folders(tmp_path: Path) -> None:
    assert "nothing.py: no such file" in refused(tmp_path, "nothing.py")
    (tmp_path / "empty").mkdir()
    assert "empty: no agent in this folder: there are no Python files in it" in refused(
        tmp_path, "empty"
    )


def test_a_folder_with_another_client_leads_to_its_file(tmp_path: Path) -> None:
    (tmp_path / "bots").mkdir()
    (tmp_path / "bots" / "bot.py").write_text(
        "import anthropic\n\nanthropic.Anthropic().messages.create(model='m', messages=[])\n"
    )
    message = refused(tmp_path, "bots")
    assert "bots/bot.py:3 calls its model through the Anthropic client" in message
    assert "next: art-adapt bots/bot.py says what can be done" in message


@pytest.mark.parametrize("named", ["agent.py", "agent_train.py"])
def test_a_task_of_the_train_module_names_the_train_module(
    tmp_path: Path, named: str
) -> None:
    assert "next: python agent_train.py probe\n" in refused(tmp_path, "probe", named)


def test_only_auxiliary_calls(tmp_path: Path) -> None:
    (tmp_path / "judge.py").write_text(
        "def grade(client, text):\n    return client.chat.completions.create(model=JUDGE_MODEL, messages=[text])\n"
    )
    message = refused(tmp_path, "--isolated", "judge.py")
    assert "judge.py:2: only auxiliary calls" in message and "--policy grade" in message


def test_several_entry_points(tmp_path: Path) -> None:
    text = "\n\n".join(
        f"def run_{name}(client, task):\n    return client.chat.completions.create(messages=[task])\n"
        for name in ("one", "two")
    )
    (tmp_path / "agent.py").write_text(text)
    message = refused(tmp_path, "--isolated", "agent.py")
    assert (
        "agent.py:1  run_one" in message
        and "agent.py:5  run_two" in message
        and "--entry run_one" in message
    )
    assert (
        art_adapt(
            "--isolated", "--no-train-module", "agent.py", cwd=tmp_path
        ).returncode
        == 0
    )
    assert not (tmp_path / "agent_train.py").exists()


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["--entry", "walk"], "no function 'walk'"),
        (["--entry", "nowhere:run"], "no module nowhere"),
        (["--policy", "walk"], "no completion call is named 'walk'"),
        (["--backend", "cloud"], "no such backend: 'cloud'"),
        (["--reward", "exact"], "does not name a function"),
        (["--reward", "class:f"], "'class' is not a valid Python name"),
        (["--reward", "nowhere:x"], "no module nowhere beside agent.py"),
        (
            ["--reward", "agent:answerr"],
            "agent.py: --reward agent:answerr: answerr is not in this file",
        ),
        (
            ["--reward", "judge:one"],
            "judge.py:1: --reward judge:one: this function cannot be called",
        ),
        (
            ["--reward", "judge:LIMIT"],
            "judge.py:9: --reward judge:LIMIT: LIMIT is not a function",
        ),
        (
            ["--reward", "judge:Score"],
            "judge.py:12: --reward judge:Score: Score is not a function",
        ),
        (["--rollouts-per-group", "1"], "a group of one has no advantage"),
        (["--project", ""], "--project '' is empty"),
        (["--trace", "otel"], "no such tracer: 'otel'\n  next: use weave or langfuse"),
        (["--ruler-weight", "0.5"], "--ruler-weight needs --reward"),
        (
            ["--ruler-weight", "2", "--reward", "judge:two"],
            "2.0 is not between 0 and 1",
        ),
        (["--pipeline", "--backend", "serverless"], "with the serverless backend"),
        (["--learning-rate", "0"], "--learning-rate 0.0 is not above 0"),
        (["--learning-rate", "0.5"], "at most 0.005\n  why: a higher learning rate"),
        (["--base-model", "gpt-4o"], "--base-model 'gpt-4o' cannot be trained"),
    ],
)
def test_bad_options(agent: Path, arguments: list[str], expected: str) -> None:
    agent.with_name("judge.py").write_text(
        "def one(trajectory):\n    return 1.0\n\n\ndef two(*_):\n    return 2.0\n"
        "\n\nLIMIT = 3\n\n\nclass Score:\n    value = 1.0\n"
    )
    assert expected in refused(agent.parent, "--isolated", "agent.py", *arguments)


def test_errors_are_json_as_well(agent: Path) -> None:
    done = art_adapt(
        "--json", "--isolated", "--entry", "walk", "agent.py", cwd=agent.parent
    )
    error = json.loads(done.stdout)["error"]
    assert done.returncode == 2 and "no function 'walk'" in error["what"]
    assert "these functions reach a policy call" in error["next_step"]


def test_an_internal_error_as_json(agent: Path) -> None:
    (agent.parent / "libcst.py").write_text("raise RuntimeError('broken')\n")
    done = art_adapt("--json", "--isolated", "agent.py", cwd=agent.parent, fresh=True)
    assert done.returncode == 2
    error = json.loads(done.stdout)["error"]
    assert error["what"] == "internal error: RuntimeError: broken"
    assert "report it, with" in error["next_step"]


def test_agents_of_one_name_are_told_apart_by_their_folders(
    agent: Path, tmp_path: Path
) -> None:
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "agent.py").write_bytes(agent.read_bytes())
    agent.unlink()
    message = refused(tmp_path, "--isolated", "one", "two")
    assert "one/agent.py:" in message and "two/agent.py:" in message
    named = re.search(r"--entry (\S+);", message)
    assert named is not None
    done = art_adapt("--isolated", "--entry", named[1], "one", "two", cwd=tmp_path)
    assert done.returncode == 0, done.stderr.decode()
    assert (tmp_path / "one" / "agent_train.py").exists()


def test_suggested_commands_can_be_pasted(agent: Path, tmp_path: Path) -> None:
    spaced = tmp_path / "a b" / "my agent.py"
    spaced.parent.mkdir()
    agent.rename(spaced)
    done = art_adapt("--isolated", "a b/my agent.py", cwd=tmp_path)
    assert b"art-adapt rehearse 'a b/my agent_train.py'" in done.stdout


@pytest.mark.parametrize(
    ("word", "meant"),
    [("chekc", "check"), ("reherse", "rehearse"), ("docter", "doctor")],
)
def test_a_mistyped_command(tmp_path: Path, word: str, meant: str) -> None:
    assert f"did you mean art-adapt {meant}?" in refused(tmp_path, word)


@pytest.mark.parametrize("option", ["undo", "diff"])
def test_an_option_written_as_a_command(tmp_path: Path, option: str) -> None:
    said = refused(tmp_path, option, "agent.py")
    assert f"next: art-adapt --{option} agent.py" in said


@pytest.mark.parametrize("flag", ["-h", "--help"])
def test_help_lists_the_commands(tmp_path: Path, flag: str) -> None:
    said = art_adapt(flag, cwd=tmp_path).stdout.decode()
    for name in COMMANDS:
        assert f"  art-adapt {name} " in said
        assert art_adapt(name, flag, cwd=tmp_path).returncode == 0


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("art-adapt re", "rehearse"),
        ("art-adapt rehearse --st", "--steps\n--stub"),
        ("art-adapt --no-", "--no-train-module"),
    ],
)
def test_shells_complete_it(tmp_path: Path, line: str, expected: str) -> None:
    asked = {"COMP_WORDS": line, "COMP_CWORD": str(len(line.split()) - 1)}
    done = subprocess.run(
        [Path(sys.executable).with_name("art-adapt")],
        cwd=tmp_path,
        env={**os.environ, "_ART_ADAPT_COMPLETE": "complete_bash", **asked},
        capture_output=True,
    )
    assert done.stdout.decode().strip() == expected


def test_folders_without_what_is_excluded(agent: Path, tmp_path: Path) -> None:
    for name in ("vendored", "kept"):
        (tmp_path / name).mkdir()
        (tmp_path / name / f"{name}_agent.py").write_bytes(agent.read_bytes())
    agent.unlink()
    options = ("--isolated", "--diff", "--no-train-module", "--exclude", "vendored")
    patch = art_adapt(*options, ".", cwd=tmp_path).stdout
    assert b"kept_agent.py" in patch and b"vendored" not in patch


@pytest.mark.parametrize(
    "arguments",
    [
        ["agent.py", "--yes"],
        ["--diff", "agent.py"],
        ["check", "."],
        ["explain", "ART201"],
    ],
)
def test_nothing_is_sent_and_none_of_the_users_code_is_run(
    agent: Path, arguments: list[str]
) -> None:
    agent.write_text(agent.read_text() + "\nopen('executed', 'w')\n")
    watching = (
        "import sys\n"
        "def watch(event, arguments):\n"
        "    if event.startswith(('socket.connect', 'socket.getaddrinfo', 'socket.bind')):\n"
        "        raise SystemExit('connected')\n"
        "sys.addaudithook(watch)\n"
        f"sys.argv = ['art-adapt', *{arguments!r}]\n"
        "from art_adapt.__main__ import main\n"
        "main()\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", watching], cwd=agent.parent, capture_output=True
    )
    assert done.returncode in (0, 1), done.stderr.decode()
    assert b"connected" not in done.stderr
    assert not agent.with_name("executed").exists()


def test_unknown_option(agent: Path) -> None:
    assert art_adapt("--frobnicate", "agent.py", cwd=agent.parent).returncode == 2


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("[tool.art-adapt]\nbackends = 'local'\n", "did you mean backend?"),
        ("[tool.art-adapt]\nepochs = 'many'\n", "epochs = 'many' is not an integer"),
        ("[tool.art-adapt]\nepochs = true\n", "epochs = True is not an integer"),
        ("[tool.art-adapt]\npipeline = 1\n", "pipeline = 1 is not true or false"),
        ("[tool.art-adapt]\npolicy = [1]\n", "policy = [1] is not a list of strings"),
        ("[tool.art-adapt]\npolicy = 'run'\n", "policy = 'run' is not a list of"),
        (
            "[tool.art-adapt]\nrollouts-per-group = 1\n",
            "[tool.art-adapt] rollouts-per-group = 1 is too small",
        ),
        ("tool = 3\n", "pyproject.toml: tool = 3 is not a table"),
        ("[tool]\nart-adapt = [1]\n", "tool.art-adapt = [1] is not a table"),
        ("[tool.art-adapt\n", "not valid TOML"),
        (
            "[tool.art-adapt.agents.'agnt.py']\nepochs = 3\n",
            "names a file that does not exist\n  next: did you mean agent.py?",
        ),
    ],
)
def test_bad_configuration(agent: Path, content: str, expected: str) -> None:
    agent.with_name("pyproject.toml").write_text(content)
    assert expected in refused(agent.parent, "agent.py")
    assert art_adapt("--isolated", "agent.py", cwd=agent.parent).returncode == 0


@pytest.mark.parametrize(
    "content",
    [
        "tool.ruff = 3\n",
        "tool.ruff.format = 'wide'\n",
        "tool.black = [1]\n",
        "tool.ruff.line-length = 'long'\n",
    ],
)
def test_tables_of_other_tools_are_theirs_to_check(agent: Path, content: str) -> None:
    agent.with_name("pyproject.toml").write_text(content)
    assert art_adapt("agent.py", cwd=agent.parent).returncode == 0


SAID: dict[type, tuple[Any, Any]] = {  # on the command line, in pyproject.toml
    str: ("flag", "config"),
    int: (5, 6),
    float: (0.25, 0.5),
    bool: (True, True),
    tuple: (["flag"], ["config"]),
}


@pytest.mark.parametrize("setting", SETTINGS, ids=lambda setting: setting.name)
def test_each_option_is_a_flag_and_a_key(setting: Setting, tmp_path: Path) -> None:
    flag, config = SAID[setting.kind]
    if setting.default is True:
        config = False
    said = json.dumps(config)
    (tmp_path / "pyproject.toml").write_text(
        f"[tool.art-adapt]\n{setting.key} = {said}\n"
    )
    nothing = dict.fromkeys(each.name for each in SETTINGS)

    def value(options: Options) -> tuple[Any, Origin]:
        found = getattr(options, setting.name)
        said = list(found) if isinstance(found, tuple) else found
        return said, options.origin(setting.name)

    default, _ = value(Options())
    from_flag = options_from({**nothing, setting.name: flag})
    from_file = with_configuration(options_from(nothing), tmp_path)
    off = setting.kind is bool and setting.default
    assert value(options_from(nothing)) == (default, Origin.DEFAULT)
    assert value(from_flag) == (not off if off else flag, Origin.FLAG)
    assert value(from_file) == (config, Origin.CONFIG)
    assert with_configuration(from_flag, tmp_path) == from_flag


def test_help_shows_every_option(tmp_path: Path) -> None:
    said = art_adapt("--help", cwd=tmp_path).stdout.decode()
    for setting in SETTINGS:
        assert f"  {setting.flag}" in said
        assert "".join(setting.help.split()) in "".join(said.split())


def test_hooks_used_by_hand_in_other_ways_are_not_taken_off(tmp_path: Path) -> None:
    (tmp_path / "agent.py").write_text(
        "from art_recording import recorded\n\nhooks = [recorded]\n"
    )
    assert "agent.py:3:10: this hook is used in a way" in refused(
        tmp_path, "--undo", "agent.py"
    )


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["notes.json"], "notes.json: not a Python file, but a .json file"),
        (["evaluate"], "python agent_train.py evaluate"),
        (["doctor", "agent_trian.py"], "did you mean agent_train.py?"),
        (["rehearse", "agent_trian.py"], "did you mean agent_train.py?"),
        (["check", "agent_trian.py"], "did you mean agent_train.py?"),
        (["episodes", "noets.json"], "did you mean notes.json?"),
        (["explain", "falure-as-reward"], "did you mean failure-as-reward?"),
        (
            ["exported.py"],
            "exported.py:2:1: a notebook command: %load_ext autoreload",
        ),
        (["other"], "agent.py:4 calls its model through the Anthropic client"),
    ],
)
def test_a_mistake_names_what_was_nearly_meant(
    arguments: list[str], said: str, tmp_path: Path
) -> None:
    (tmp_path / "notes.json").write_text("{}")
    (tmp_path / "agent_train.py").touch()
    (tmp_path / "exported.py").write_text("import openai\n%load_ext autoreload\n")
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "agent.py").write_text(
        "import anthropic\nclient = anthropic.Anthropic()\ndef run(task):\n"
        "    return client.messages.create(model='claude', max_tokens=5, messages=[task])\n"
    )
    done = art_adapt(*arguments, cwd=tmp_path)
    assert done.returncode == 2 and said in done.stderr.decode()


def test_alone_it_shows_its_help(tmp_path: Path) -> None:
    done = art_adapt(cwd=tmp_path)
    assert done.returncode == 0 and b"Commands (each has --help)" in done.stdout


# What a train module needs, and adapting does not: none of it comes with `pip install art-adapt`.
OF_TRAINING = ("art", "httpx", "litellm", "numpy", "openai", "polars", "torch")


def test_adapting_needs_nothing_of_training(agent: Path) -> None:
    blocked = agent.with_name("blocked.py")
    blocked.write_text(
        f"import runpy, sys\n"
        f"sys.modules.update(dict.fromkeys({OF_TRAINING!r}))\n"
        "sys.argv = ['art-adapt', *sys.argv[1:]]\n"
        "runpy.run_module('art_adapt', run_name='__main__')\n"
    )
    for arguments in (["--yes", "--isolated", "agent.py"], ["check", "agent.py"]):
        done = subprocess.run(
            [sys.executable, "blocked.py", *arguments],
            cwd=agent.parent,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
    assert "recorded(" in agent.read_text()


@pytest.mark.parametrize("command", ["rehearse", "doctor"])
@pytest.mark.parametrize(
    "named",
    [
        ".",
        *(pytest.param(each, marks=pytest.mark.wide) for each in ("", "none_train.py")),
    ],
)
def test_a_train_module_that_is_no_file(
    command: str, named: str, tmp_path: Path
) -> None:
    said = refused(tmp_path, command, named)
    assert "internal error" not in said
