"""What one run decided, later runs keep; and ``check`` agrees with what was written."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest
from agent_files import NAMES, REPOSITORY, agent_file, art_adapt, copy_of

REWARDS = "def exact(trajectory, scenario):\n    return 0.5\n"
FLAGS = {
    "reward": (["--reward", "rewards:exact"], "from rewards import exact"),
    "isolate": (["--isolate", "process"], "@training.isolated("),
    "run name": (["--run-name", "mine-007"], 'RUN_NAME = "mine-007"'),
    "steps": (["--max-steps", "71"], "MAX_STEPS = 71"),
    "rubric": (["--rubric", 'It\'s brief:\n"yes"  é'], "It's brief"),
    "trace": (["--trace", "weave"], "@weave.op"),
    "backend": (["--backend", "serverless"], 'BACKEND = "serverless"'),
    "pipeline": (["--pipeline"], "PipelineTrainer"),
    "single turn": (["--single-turn"], "training.RecordedRequest"),
    "learning rate": (["--learning-rate", "3e-6"], '{"learning_rate": 3e-06}'),
    "scenarios": (["--scenarios", "rows/own.jsonl"], 'SCENARIOS = "rows/own.jsonl"'),
}
CALL = """\


def {name}(text):
    messages = [{{"role": "user", "content": text}}]
    return client.chat.completions.create(model=MODEL, messages=messages)
"""


def adapted(folder: Path, *flags: str) -> str:
    done = art_adapt(*flags, "--yes", "agent.py", cwd=folder)
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout.decode()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = copy_of("support_loop", tmp_path)
    (folder / "pyproject.toml").write_text("")
    (folder / "rewards.py").write_text(REWARDS)
    return folder


@pytest.mark.parametrize("name", FLAGS)
def test_a_flag_is_remembered(name: str, folder: Path) -> None:
    flags, written = FLAGS[name]
    adapted(folder, *flags)
    module = folder / "agent_train.py"
    first = module.read_text()
    assert written in first
    assert "Nothing to change" in adapted(folder)
    agent = folder / "agent.py"
    agent.write_text(agent.read_text() + CALL.format(name="also"))
    adapted(folder)
    assert module.read_text() == first
    adapted(folder, "--groups-per-step", "5")
    assert written in module.read_text() and "GROUPS_PER_STEP = 5" in module.read_text()
    (folder / "pyproject.toml").write_text("[tool.art-adapt]\nmax-steps = 9\n")
    adapted(folder)
    assert written in module.read_text()
    assert ("MAX_STEPS = 9" in module.read_text()) is (name != "steps")


def test_a_flag_changes_what_was_decided_and_says_so(folder: Path) -> None:
    adapted(folder, "--reward", "rewards:exact", "--isolate", "process")
    said = " ".join(adapted(folder, "--reward", "ruler", "--isolate", "none").split())
    assert "changed --reward ruler (before: --reward rewards:exact)" in said
    assert "changed --isolate none (before: --isolate process)" in said
    module = (folder / "agent_train.py").read_text()
    assert "rewards" not in module.split("PROJECT")[0] and "isolated(" not in module
    assert "changed" not in adapted(folder)
    (folder / "pyproject.toml").write_text("[tool.art-adapt]\nisolate = 'process'\n")
    assert "Nothing to change" in adapted(folder)


def test_what_was_answered_gives_way_to_a_later_flag(folder: Path) -> None:
    """The rehearsal advised a flag, after the guided start had kept another answer."""
    kept = "[tool.art-adapt.agents.'agent.py']\nisolate = 'none'\n"
    (folder / "pyproject.toml").write_text(kept)
    adapted(folder)
    adapted(folder, "--isolate", "process")
    assert "Nothing to change" in adapted(folder)
    assert "isolated(" in (folder / "agent_train.py").read_text()


def test_an_entry_point_is_remembered(folder: Path) -> None:
    agent = folder / "agent.py"
    text = agent.read_text()
    agent.write_text(
        f"{text}\n\n{text[text.index('def run_agent') :].replace('run_agent', 'ask')}"
    )
    assert art_adapt("--yes", "agent.py", cwd=folder).returncode == 2  # which one?
    adapted(folder, "--entry", "ask")
    assert "Nothing to change" in adapted(folder)
    adapted(folder, "--max-steps", "3")
    assert "import ask" in (folder / "agent_train.py").read_text()


@pytest.mark.parametrize("flags", [["--auxiliary", "rate"], ["--policy", "judge"]])
def test_a_role_is_remembered_and_checked(flags: list[str], folder: Path) -> None:
    agent = folder / "agent.py"
    added = CALL.format(name=flags[1])
    if flags[1] == "judge":
        added = added.replace("MODEL", '"gpt-judge"')
    text = agent.read_text().replace(
        "    messages = [", f"    {flags[1]}(question)\n    messages = [", 1
    )
    agent.write_text(text + added)
    line = agent.read_text().splitlines().index(added.splitlines()[-1]) + 1
    for name in (flags[1], f"agent.py:{line}"):
        before = agent.read_bytes()
        adapted(folder, flags[0], name)
        hooked = agent.read_text()
        assert ("recorded(client" in hooked.split(f"def {flags[1]}")[1]) is (
            flags[0] == "--policy"
        )
        assert "Nothing to change" in adapted(folder)
        assert checked(folder) == ""
        assert art_adapt("--undo", "agent.py", cwd=folder).returncode == 0
        assert agent.read_bytes() == before


def checked(folder: Path) -> str:
    done = art_adapt("check", "--select", "ART1", ".", cwd=folder)
    lines = done.stdout.decode().splitlines()
    return "\n".join(line for line in lines if ": ART" in line)


@pytest.mark.parametrize("name", NAMES)
def test_fresh_output_passes_the_check(name: str, tmp_path: Path) -> None:
    folder = copy_of(name, tmp_path)
    file = agent_file(folder).relative_to(folder)
    done = art_adapt("--isolated", "--yes", file, cwd=folder)
    assert done.returncode == 0, done.stderr.decode()
    assert checked(folder) == ""


CRITIC = """
def critic(text):
    messages = [{"role": "user", "content": f"What is wrong with this? {text}"}]
    reply = client.chat.completions.create(model=MODEL, messages=messages)
    return reply.choices[0].message.content
"""


@pytest.mark.parametrize("configured", [None, "agents", "all"])
@pytest.mark.parametrize("train_module", [True, False])
@pytest.mark.parametrize("elsewhere", [True, False])
def test_a_side_job_that_is_kept_out_passes_the_check(
    configured: str | None, train_module: bool, elsewhere: bool, folder: Path
) -> None:
    name = "critic" if configured is None else "second"
    job = CRITIC.replace("critic", name)
    agent = folder / "agent.py"
    text = agent.read_text().replace(
        "    messages = [", f"    {name}(question)\n    messages = [", 1
    )
    head = "from openai import OpenAI\n\nMODEL = 'm'\nclient = OpenAI()\n\n"
    if elsewhere:
        (folder / "more.py").write_text(head + job)
        text = text.replace(
            "import json\n", f"import json\n\nfrom more import {name}\n", 1
        )
    agent.write_text(text if elsewhere else text + job)
    if configured is not None:
        table = ".agents.'agent.py'" if configured == "agents" else ""
        (folder / "pyproject.toml").write_text(
            f"[tool.art-adapt{table}]\nauxiliary = ['{name}']\n"
        )
    adapted(folder, *([] if train_module else ["--no-train-module"]))
    assert "recorded(client.chat.completions.create)" in agent.read_text()
    assert checked(folder) == ""
    agent.write_text(
        agent.read_text().replace(
            "recorded(client.chat.completions.create)", "client.chat.completions.create"
        )
    )
    assert "ART101" in checked(folder)  # the agent's own call has lost its hook


USER = """\
from openai import OpenAI

from agent import run_agent


def ask(question: str) -> str:
    messages = [{"role": "user", "content": question}]
    for _ in range(3):
        reply = OpenAI().chat.completions.create(model="m", messages=messages)
        messages.append(reply.choices[0].message)
        if "FINAL" in reply.choices[0].message.content:
            return reply.choices[0].message.content
        messages.append({"role": "user", "content": run_agent(question)})
    return "none"
"""


@pytest.mark.parametrize("entry", [(), ("--entry", "run_agent")])
def test_another_agent_keeps_its_own_decisions(
    entry: tuple[str, ...], folder: Path
) -> None:
    """An agent that uses another takes over nothing that was decided for that one."""
    (folder / "other.py").write_text(USER)
    adapted(folder, "--run-name", "mine-007", "--max-steps", "71", *entry)
    done = art_adapt("--yes", "other.py", cwd=folder)
    assert done.returncode == 0, done.stderr.decode()
    other = (folder / "other_train.py").read_text()
    assert "import ask" in other and "MAX_STEPS = 50" in other
    assert "mine-007" not in other
    assert "mine-007" in (folder / "agent_train.py").read_text()
    assert "Nothing to change" in adapted(folder)


def test_an_entry_point_elsewhere_is_remembered(folder: Path) -> None:
    """The train module lies beside another file than the one that is named."""
    (folder / "other.py").write_text(USER)
    for flags in (("--entry", "agent:run_agent", "--max-steps", "71"), ()):
        done = art_adapt("--yes", *flags, "other.py", cwd=folder)
        assert done.returncode == 0, done.stderr.decode()
        assert "MAX_STEPS = 71" in (folder / "agent_train.py").read_text()
        assert not (folder / "other_train.py").exists()
    assert b"Nothing to change" in done.stdout


def test_undo_takes_hooks_off_as_they_were_laid_out(folder: Path) -> None:
    """A hook makes a line longer, and only its own line length tells how it was broken."""
    agent = folder / "agent.py"
    call = agent.read_text().split("response = ")[1].split(")\n")[0] + ")"
    joined = " ".join(call.split()).replace("( ", "(").replace(" )", ")")
    agent.write_text(agent.read_text().replace(call, joined))
    for length in ("70", "92", "100", "120"):
        before = agent.read_bytes()
        adapted(folder, "--line-length", length)
        assert "Nothing to change" in adapted(folder)
        assert art_adapt("--undo", "agent.py", cwd=folder).returncode == 0
        assert agent.read_bytes() == before, length


def test_a_reward_is_no_word_of_a_string(folder: Path) -> None:
    text = '"""nosuch"""\nX = getattr(object, "nosuch", None)\n'
    (folder / "rewards.py").write_text(text + REWARDS)
    done = art_adapt("--reward", "rewards:nosuch", "agent.py", cwd=folder)
    assert done.returncode == 2 and b"nosuch is not in this file" in done.stderr


def test_any_two_flags_in_any_order(folder: Path) -> None:
    """Nothing that was decided is lost by what is decided later."""
    pairs = list(itertools.permutations(["reward", "isolate", "steps", "run name"], 2))
    for one, two in pairs:
        adapted(folder, *FLAGS[one][0])
        adapted(folder, *FLAGS[two][0])
        adapted(folder)
        module = (folder / "agent_train.py").read_text()
        assert FLAGS[one][1] in module and FLAGS[two][1] in module, (one, two)
        assert art_adapt("--undo", "agent.py", cwd=folder).returncode == 0
    assert (folder / "agent.py").read_bytes() == (
        REPOSITORY / "fixtures" / "agents" / "support_loop" / "agent.py"
    ).read_bytes()


@pytest.mark.parametrize("flags", [[], ["--isolate", "process"]])
def test_naming_another_of_its_files_changes_nothing(
    flags: list[str], tmp_path: Path
) -> None:
    folder = copy_of("package_agent", tmp_path)
    (folder / "pyproject.toml").write_text("")
    for first, *others in itertools.permutations(
        [".", "triage/agent.py", "triage/llm.py"]
    ):
        assert art_adapt(*flags, "--yes", first, cwd=folder).returncode == 0
        for other in others:
            done = art_adapt("--yes", other, cwd=folder)
            assert b"Nothing to change" in done.stdout, (first, other)
        assert art_adapt("--undo", first, cwd=folder).returncode == 0


def test_answers_kept_for_one_file_hold_for_the_agent(tmp_path: Path) -> None:
    folder = copy_of("package_agent", tmp_path)
    (folder / "pyproject.toml").write_text(
        '[tool.art-adapt.agents."triage/llm.py"] # answers to art-adapt\n'
        'backend = "serverless"\n'
    )
    done = art_adapt("--run-name", "one", "--yes", "triage/llm.py", cwd=folder)
    assert done.returncode == 0, done.stderr.decode()
    for named in (".", "triage/agent.py", "triage/llm.py"):
        done = art_adapt("--yes", named, cwd=folder)
        assert b"Nothing to change" in done.stdout, named
        assert b"serverless" in done.stdout, named
