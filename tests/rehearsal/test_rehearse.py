"""Test ``art-adapt rehearse`` as a user runs it.

A correct train module passes; one that is broken in any of ten ways is caught, at its line,
with what to change.
"""

from __future__ import annotations

import importlib.util
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from agent_files import agent_file, art_adapt, copy_of, first_now, replies_of

from art_adapt.backends import INSTALL, Backend
from art_adapt.rehearsal.cost import weights_of

REWARD = (
    "def f(trajectory, scenario):\n    return len(str(trajectory.messages())) / 1e4\n"
)
RIGHT = ("support_loop", "async_research", "class_agent")
SHARED = """\
from openai import OpenAI

client = OpenAI()
messages: list = []


def run_agent(question: str) -> str:
    messages.append({"role": "user", "content": question})
    response = client.chat.completions.create(model="gpt-4o-mini", messages=messages)
    messages.append(response.choices[0].message)
    return response.choices[0].message.content
"""


def rehearse(*arguments: str, cwd: Path, **variables: str) -> tuple[int, str, str]:
    done = subprocess.run(
        [sys.executable, "-m", "art_adapt", "rehearse", *arguments],
        cwd=cwd,
        env={**os.environ, **variables},
        capture_output=True,
        timeout=300,
        check=False,
    )
    return done.returncode, done.stdout.decode(), done.stderr.decode()


def adapted(tmp_path: Path, *options: str, name: str = "support_loop") -> Path:
    folder = copy_of(name, tmp_path)
    (folder / "rewards.py").write_text(REWARD)
    file = agent_file(folder).relative_to(folder)
    assert art_adapt("--isolated", *options, file, cwd=folder).returncode == 0
    return folder


@pytest.mark.parametrize(
    "name",
    [RIGHT[0], *(pytest.param(name, marks=pytest.mark.slow) for name in RIGHT[1:])],
)
def test_what_art_adapt_writes_passes(name: str, tmp_path: Path) -> None:
    folder = adapted(tmp_path, name=name)
    module = next(folder.rglob("agent_train.py")).relative_to(folder)
    before = sorted(folder.rglob("*.py"))
    code, said, complaints = rehearse(str(module), "--json", cwd=folder)
    told = json.loads(said)
    assert (code, told["findings"]) == (0, []), complaints
    figures = told["figures"]
    assert figures["steps"] == 2 and figures["episodes"] >= 8
    assert figures["recorded"] == figures["calls"] > figures["episodes"] / 2
    assert figures["answered"] > 0
    assert sorted(folder.rglob("*.py")) == before
    assert not list(folder.rglob(".art"))


@pytest.mark.parametrize(
    ("returned", "found"),
    first_now(
        [
            ("'Task completed.'", True),
            ("'Task completed. ' + __import__('uuid').uuid4().hex", True),
            ("[reply.split()[1]]", False),  # an id, which the model said
            ("reply", False),
            ("verdict", False),  # what the model said, if always the same
        ]
    ),
)
def test_an_answer_that_says_nothing_is_told(
    returned: str, found: bool, tmp_path: Path
) -> None:
    (tmp_path / "agent.py").write_text(
        "from openai import OpenAI\n\n\ndef ask(text: str) -> str:\n"
        '    messages = [{"role": "user", "content": text}]\n'
        '    reply = OpenAI().chat.completions.create(model="m", messages=messages)\n'
        "    return reply.choices[0].message.content\n\n\n"
        "def run_agent(question: str) -> str:\n"
        '    verdict = ask(f"Is it allowed? {question}")\n    reply = ask(question)\n'
        f"    return {returned}\n"
    )
    options = ("--isolated", "--entry", "run_agent", "agent.py")
    assert art_adapt(*options, cwd=tmp_path).returncode == 0
    rows = [{"question": f"How is {at}?"} for at in range(4)]
    replies = [
        {"when": "^How", "content": f"Well, ticket-{at}410273 is open."}
        for at in range(9)
    ]
    replies.append({"when": "allowed", "content": "It is allowed."})
    for name, lines in (("scenarios", rows), ("replies", replies)):
        text = "\n".join(map(json.dumps, lines))
        (tmp_path / f"{name}.jsonl").write_text(text)
    given = ("agent_train.py", "--json", "--replies", "replies.jsonl")
    code, said, complaints = rehearse(*given, cwd=tmp_path)
    findings = json.loads(said)["findings"]
    assert ["same answer"] * found == [each["name"] for each in findings], complaints
    assert code == found
    if found:
        said = findings[0]["what"]
        assert "the answer 'Task completed." in said and "whatever the model" in said


CHAT = """\
from openai import OpenAI

client = OpenAI()


def main():
    messages = []
    while text := input("you> "):
        messages.append({{"role": "user", "content": text}})
        answer = None
        for _ in range(2):
            completion = client.chat.completions.create(model="m", messages=messages, tools={tools})
            message = completion.choices[0].message
            messages.append(message)
            if not message.tool_calls:
                print(message.content)
                answer = message.content
                break
            for call in message.tool_calls:
                messages.append({{"role": "tool", "tool_call_id": call.id, "content": "?"}})
        if answer is None:
            print({given_up})


if __name__ == "__main__":
    main()
"""
LOOK = {"type": "function", "function": {"name": "look", "parameters": {}}}


@pytest.mark.parametrize(
    ("given_up", "found"),
    [
        ("'Sorry, that took too long.'", True),
        pytest.param(
            "final_answer('Sorry, that took too long.')", False, marks=pytest.mark.wide
        ),
    ],
)
def test_the_answer_to_an_earlier_question_is_told(
    given_up: str, found: bool, tmp_path: Path
) -> None:
    (tmp_path / "agent.py").write_text(CHAT.format(given_up="0", tools=[LOOK]))
    assert art_adapt("--isolated", "agent.py", cwd=tmp_path).returncode == 0
    agent = (tmp_path / "agent.py").read_text()
    (tmp_path / "agent.py").write_text(agent.replace("print(0)", f"print({given_up})"))
    rows = [{"inputs": [f"How is {at}?", "Do it."]} for at in range(4)]
    replies: list[dict[str, object]] = [
        {"when": "^How", "content": f"Well, {at} times."} for at in range(9)
    ]
    replies.append({"when": "^Do", "tool_calls": [{"name": "look", "arguments": {}}]})
    replies.append({"when": "^.$", "tool_calls": [{"name": "look", "arguments": {}}]})
    for name, lines in (("scenarios", rows), ("replies", replies)):
        text = "\n".join(map(json.dumps, lines))
        (tmp_path / f"{name}.jsonl").write_text(text)
    given = ("agent_train.py", "--json", "--replies", "replies.jsonl")
    _, said, complaints = rehearse(*given, cwd=tmp_path)
    told = json.loads(said)
    earlier = [f["what"] for f in told["findings"] if f["name"] == "earlier answer"]
    assert len(earlier) == found, complaints
    if found:
        assert f"in {told['figures']['episodes']} of" in earlier[0]


@pytest.mark.slow
def test_what_a_step_costs_at_least(tmp_path: Path) -> None:
    folder = adapted(tmp_path, "--base-model", "Qwen/Qwen3-30B-A3B-Instruct-2507")
    asked = ("agent_train.py", "--json", "--gpu", "l40s", "--reply-tokens", "100")
    code, said, _ = rehearse(*asked, "--gpu-price", "3.6", cwd=folder)
    told = json.loads(said)
    cost = told["cost"]
    assert code == 0 and (cost["weights"], cost["gigabytes"]) == (30, 60)
    assert cost["reply_tokens"] == 100
    assert cost["episodes"] == told["figures"]["episodes"] / 2  # of two steps
    # Three billion weights of two bytes for each of at least a hundred tokens in turn.
    assert cost["sampling_seconds"] > 100 * 6e9 / 0.864e12
    both = cost["sampling_seconds"] + cost["training_seconds"]
    assert cost["training_seconds"] == pytest.approx(4 * 3e9 * cost["tokens"] / 362e12)
    assert cost["dollars"] == pytest.approx(both * 0.001)
    assert not cost["fits"]
    code, said, _ = rehearse("agent_train.py", "--gpu", "L40S", cwd=folder)
    assert "60 GB of weights do not fit on one L40S" in said
    code, _, complaint = rehearse("agent_train.py", "--gpu", "abacus", cwd=folder)
    assert code == 2 and "H100" in complaint


@pytest.mark.slow
def test_samples_of_one_request_are_sampled_at_once(tmp_path: Path) -> None:
    folder = adapted(tmp_path, name="best_of")
    asked = ("agent_train.py", "--json", "--gpu", "H100", "--reply-tokens", "300")
    _, said, complaints = rehearse(*asked, cwd=folder)
    cost = json.loads(said)["cost"]
    assert cost["reply_tokens"] == 300, complaints
    one_reply = 300 * 28e9 / 3.35e12
    assert one_reply < cost["sampling_seconds"] < 1.5 * one_reply


@pytest.mark.parametrize(
    ("name", "weights"),
    [
        ("Qwen/Qwen3-30B-A3B-Instruct-2507", (30, 3)),
        ("meta-llama/Llama-3.1-8B-Instruct", (8, 8)),
        ("Qwen/Qwen2.5-0.5B", (0.5, 0.5)),
        ("openai/gpt-oss-120b", (None, None)),  # four bits
        ("unsloth/Qwen3-14B-bnb-4bit", (None, None)),
        ("mistral-small", (None, None)),
    ],
)
def test_what_a_models_name_says_of_its_size(name: str, weights: object) -> None:
    assert weights_of(name) == weights


@pytest.mark.slow
def test_a_model_of_unknown_size_costs_nobody_knows_what(tmp_path: Path) -> None:
    folder = adapted(tmp_path, "--base-model", "ours/large")
    code, said, _ = rehearse("agent_train.py", "--gpu", "H100", cwd=folder)
    assert code == 0 and "'ours/large' does not say how large it is" in said


@pytest.mark.slow
@pytest.mark.parametrize("name", ["support_loop", "async_research"])
def test_a_pipeline_passes(name: str, tmp_path: Path) -> None:
    """PipelineTrainer samples, trains and validates at once.

    It also wants to know which step's policy each validated token comes from.
    """
    folder = adapted(tmp_path, "--pipeline", name=name)
    rows = [dict.fromkeys(("question", "topic"), f"HO-{at}?") for at in range(30)]
    (folder / "scenarios.jsonl").write_text("\n".join(map(json.dumps, rows)))
    code, said, output = rehearse(
        "agent_train.py", "--steps", "6", "--json", "--output", cwd=folder
    )
    told = json.loads(said)
    assert (code, told["findings"]) == (0, []), output
    assert told["figures"]["steps"] == 6
    assert "step 6: mean reward 0" in output and "failed at step" not in output
    assert "Trained: rehearsal@6" in output


@pytest.mark.parametrize("backend", ["serverless", "tinker"])
def test_a_rented_backend_is_rehearsed_without_its_package_or_key(
    backend: str, tmp_path: Path
) -> None:
    folder = adapted(tmp_path, "--backend", backend)
    code, said, output = rehearse("agent_train.py", "--json", cwd=folder)
    told = json.loads(said)
    assert (code, told["findings"]) == (0, []), output
    assert told["figures"]["steps"] == 2


@pytest.mark.slow
def test_a_pipeline_that_loses_every_episode_is_told(tmp_path: Path) -> None:
    folder = adapted(tmp_path, "--pipeline", "--reward", "rewards:f")
    (folder / "rewards.py").write_text("def f(t, scenario):\n    raise KeyError('x')\n")
    code, said, _ = rehearse("agent_train.py", cwd=folder)
    assert code == 1 and "the reward function raised KeyError" in said
    assert "record the call" not in said  # what was under way is no finding


@pytest.mark.slow
@pytest.mark.long  # the other pipelines are as art-adapt writes them
def test_a_pipeline_by_keyword_and_one_in_a_comment(tmp_path: Path) -> None:
    folder = adapted(tmp_path, "--pipeline")
    module = folder / "agent_train.py"
    named = module.read_text().replace(
        "            model,\n            backend,\n            roll_out,\n            training.",
        "            model=model,\n            backend=backend,\n            rollout_fn=roll_out,\n"
        "            scenarios=training.",
    )
    assert "rollout_fn=" in named
    named = named.replace(
        "            None,\n            validate",
        "            config=None,\n            eval_fn=validate",
    )
    assert "eval_fn=" in named
    module.write_text(named)
    code, said, _ = rehearse("agent_train.py", cwd=folder)
    assert code == 0, said
    adapted_again = art_adapt(
        "--isolated", "--force", "--epochs", "0", "agent.py", cwd=folder
    )
    assert adapted_again.returncode == 0
    module.write_text(module.read_text() + "# One day: PipelineTrainer\n")
    code, said, _ = rehearse("agent_train.py", cwd=folder)
    assert code == 0, said


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", ["game", pytest.param("package_agent", marks=pytest.mark.long)]
)
def test_answers_that_are_right_only_by_luck_can_be_given(
    name: str, tmp_path: Path
) -> None:
    """The scripted model does not win a game or hit on a valid verdict by itself."""
    folder = adapted(tmp_path, name=name)
    module = str(next(folder.rglob("agent_train.py")).relative_to(folder))
    code, said, _ = rehearse(module, cwd=folder)
    assert code == 1 and "--replies" in said
    replies = folder / "replies.jsonl"
    rows = replies_of(folder)
    if name == "game":  # so many wins that no group of four ends alike by chance
        rows += [{"content": text} for text in ("7", "1", "10") * 2]
    else:  # the last one is a verdict: so many that no episode ends without
        rows += rows[-1:] * 8
    replies.write_text("\n".join(map(json.dumps, rows)))
    code, said, complaints = rehearse(module, "--replies", str(replies), cwd=folder)
    assert code == 0, said + complaints


END = "    return await training.scored(score, trajectory, scenario)\n"
RECORDED = """    trajectory = await training.record(
        model,
        scenario,
        episode,
        temperature=TEMPERATURE,
        max_tokens=MAX_COMPLETION_TOKENS,
        timeout=EPISODE_TIMEOUT,
        auxiliary=AUXILIARY,
    )
"""
WAYS: dict[str, tuple[str, str, str, str]] = {
    # name: (what to replace, with what, the finding, what stands in its line)
    "a constant reward": (
        END,
        "    trajectory.reward = 1.0\n    return trajectory\n",
        "reward",
        "trajectory.reward =",
    ),
    "tools missing": (
        END,
        f"    trajectory.tools = None\n{END}",
        "tools",
        "trajectory.tools = None",
    ),
    "answer never set": (
        END,
        f"    trajectory.final_answer = None\n{END}",
        "answer",
        "final_answer = None",
    ),
    "groups awaited early": (
        """    rollouts: Any = (
        art.TrajectoryGroup(
            (rollout(model, scenario) for _ in range(size)),
            metadata=training.metadata_of(scenario),
        )
        for scenario in scenarios
    )
""",
        """    rollouts = []
    for scenario in scenarios:
        episodes = [rollout(model, scenario) for _ in range(size)]
        rollouts.append(await art.TrajectoryGroup(episodes))
""",
        "awaited early",
        "await art.TrajectoryGroup",
    ),
    "wrong inference name": (
        RECORDED,
        """    from art_adapt import recording

    trajectory = training.Trajectory()
    with recording.rollout(
        trajectory,
        base_url=model.inference_base_url,
        api_key=model.inference_api_key,
        model=model.name,
    ):
        await asyncio.to_thread(episode, scenario)
""",
        "inference name",
        "model=model.name",
    ),
    "metrics with strings": (
        END,
        f'    trajectory.metrics["note"] = "good"\n{END}',
        "metrics",
        'metrics["note"]',
    ),
    "no ids": (
        END,
        f"""    for item in trajectory.messages_and_choices:
        if not isinstance(item, dict):
            item.logprobs = None  # logprobs
{END}""",
        "no ids",
        "item.logprobs",
    ),
    "temperature 0": (
        "TEMPERATURE = 1.0",
        "TEMPERATURE = 0.0",
        "temperature",
        "TEMPERATURE = 0.0",
    ),
}


def found(folder: Path, name: str, *options: str) -> dict[str, Any]:
    code, said, complaints = rehearse(
        "agent_train.py", "--json", "--steps", "1", *options, cwd=folder
    )
    assert code == 1, complaints
    told = {finding["name"]: finding for finding in json.loads(said)["findings"]}
    assert name in told, told
    finding: dict[str, Any] = told[name]
    assert finding["fix"]
    return finding


# Two of them at each run of the tests, all of them before a change lands.
QUICK = {"a constant reward", "wrong inference name"}


@pytest.mark.parametrize(
    "way",
    [
        way if way in QUICK else pytest.param(way, marks=pytest.mark.slow)
        for way in WAYS
    ],
)
def test_a_broken_train_module_is_caught(way: str, tmp_path: Path) -> None:
    old, new, name, in_line = WAYS[way]
    folder = adapted(tmp_path, "--reward", "rewards:f")
    module = folder / "agent_train.py"
    source = module.read_text()
    assert source.count(old) == 1
    module.write_text(source.replace(old, new))
    finding = found(folder, name)
    line = module.read_text().splitlines()[finding["line"] - 1]
    assert in_line in line, (finding, line)


@pytest.mark.slow
def test_a_call_that_has_lost_its_hook_is_told_until_it_is_named(
    tmp_path: Path,
) -> None:
    folder = adapted(tmp_path)
    agent, module = folder / "agent.py", folder / "agent_train.py"
    source = agent.read_text()
    asks = """    filed(question)
    messages = [
"""
    agent.write_text(
        source.replace("    messages = [\n", asks, 1).replace(
            "def run_agent(",
            """def filed(question):
    messages = [{"role": "user", "content": f"One word for: {question}"}]
    return client.chat.completions.create(model="small", messages=messages)


def run_agent(""",
        )
    )
    finding = found(folder, "unhooked")
    assert Path(finding["path"]).name == "agent.py"
    line = agent.read_text().splitlines()[finding["line"] - 1]
    assert 'model="small"' in line
    assert f"--auxiliary agent.py:{finding['line']}" in finding["fix"], finding
    named = module.read_text().replace("...] = ()", '...] = ("filed",)')
    module.write_text(named)
    short = ("agent_train.py", "--json", "--steps", "1")
    code, said, complaints = rehearse(*short, cwd=folder)
    assert code == 0, (said, complaints)
    warned = named.replace("auxiliary=AUXILIARY", "strict=False")
    module.write_text(warned)
    assert found(folder, "unhooked")["line"] == finding["line"]


def test_a_message_list_shared_between_rollouts_is_caught(tmp_path: Path) -> None:
    (tmp_path / "agent.py").write_text(SHARED)
    (tmp_path / "rewards.py").write_text(REWARD)
    rows = [json.dumps({"question": f"question {n}"}) for n in range(3)]
    (tmp_path / "scenarios.jsonl").write_text("\n".join(rows))
    shared = ("--isolated", "--reward", "rewards:f", "--isolate", "none", "agent.py")
    assert art_adapt(*shared, cwd=tmp_path).returncode == 0
    assert "--isolate process" in found(tmp_path, "cross-talk")["fix"]


def test_a_model_that_is_asked_at_import_is_told(tmp_path: Path) -> None:
    folder = copy_of("support_loop", tmp_path)
    agent = folder / "agent.py"
    agent.write_text(
        agent.read_text()
        + "\n\nFIRST = run_agent('Where is HO-1042?')\n\n\n"
        + "def first():\n    return FIRST\n"
    )
    (folder / "rewards.py").write_text(REWARD)
    options = ("--isolated", "--reward", "rewards:f")
    assert art_adapt(*options, "agent.py", cwd=folder).returncode == 0
    assert (
        "run_agent() runs when the module is imported"
        in (folder / "agent_train.py").read_text()
    )
    finding = found(folder, "at import")
    line = agent.read_text().splitlines()[finding["line"] - 1]
    assert finding["path"].endswith("agent.py") and "recorded(" in line


@pytest.mark.slow
def test_answers_that_are_objects_are_told(tmp_path: Path) -> None:
    folder = copy_of("support_loop", tmp_path)
    agent = folder / "agent.py"
    text = agent.read_text().replace(
        "return message.content", "return Reply(message), 1"
    )
    kind = "class Reply:\n    def __init__(self, message):\n        self.message = message\n\n\n"
    agent.write_text(text.replace("def run_agent", f"{kind}def run_agent", 1))
    (folder / "rewards.py").write_text(REWARD)
    options = ("--isolated", "--reward", "rewards:f")
    assert art_adapt(*options, "agent.py", cwd=folder).returncode == 0
    assert "answers are or contain objects, such as " in found(folder, "answer")["what"]


def test_what_the_model_said_is_the_answer_where_an_object_has_no_text(
    tmp_path: Path,
) -> None:
    folder = copy_of("support_loop", tmp_path)
    agent = folder / "agent.py"
    text = agent.read_text().replace("return message.content", "return Reply()")
    kind = "class Reply:\n    status = 200\n\n\n"
    agent.write_text(text.replace("def run_agent", f"{kind}def run_agent", 1))
    (folder / "rewards.py").write_text(
        "def f(trajectory, scenario):\n"
        "    said = [m for m in trajectory.messages() if m['role'] == 'assistant'][-1]\n"
        "    assert trajectory.final_answer in (None, said['content'])\n"
        "    return len(said['content'] or '') % 7\n"
    )
    options = ("--isolated", "--reward", "rewards:f")
    assert art_adapt(*options, "agent.py", cwd=folder).returncode == 0
    code, said, _ = rehearse("agent_train.py", "--steps", "1", cwd=folder)
    assert code == 0, said


SPELLED = {
    "misspelled": ("trajectory.metrics.get('tool_call', 0)", "do you mean 'tool_calls'?"),
    "by a helper": ("turns(trajectory.metrics, 'turn')", "do you mean 'turns'?"),
    "of nobody": ("trajectory.metrics.get('gold', 0)", "set it in every episode"),
    "right": ("trajectory.metrics.get('tool_calls', 0)", ""),
    "asked for": ("('gold' in trajectory.metrics)", ""),
    "its own": ("trajectory.metrics.update(gold=1) or trajectory.metrics.get('gold')", ""),
}  # fmt: skip


@pytest.mark.parametrize("name", SPELLED)
def test_a_metric_that_no_episode_has_is_found(name: str, tmp_path: Path) -> None:
    read, fix = SPELLED[name]
    folder = adapted(tmp_path, "--reward", "rewards:f")
    (folder / "rewards.py").write_text(
        f"{REWARD}\nvary = f\n\ndef turns(metrics, name):\n    return metrics.get(name, 0)\n"
        f"\ndef f(trajectory, scenario):\n    return {read} + vary(trajectory, scenario)\n"
    )
    code, said, _ = rehearse("agent_train.py", "--steps", "1", "--json", cwd=folder)
    findings = json.loads(said)["findings"]
    assert code == bool(fix), said
    assert [each["fix"].startswith(fix) for each in findings] == [True] * bool(fix)
    assert all(each["path"].endswith("rewards.py") for each in findings)


def test_a_module_of_the_project_is_named_before_one_to_install(tmp_path: Path) -> None:
    folder = adapted(tmp_path, "--reward", "rewards:f")
    (folder / "other" / "prices").mkdir(parents=True)
    (folder / "other" / "prices" / "table.py").touch()
    agent = folder / "agent.py"
    agent.write_text(
        agent.read_text().replace("import json", "import json\nimport prices")
    )
    fix = found(folder, "raised")["fix"]
    assert "set PYTHONPATH=other," in fix and "import it as other.prices" in fix


@pytest.mark.parametrize("adds", [False, True])
def test_a_module_beside_the_copied_project_is_named(
    adds: bool, tmp_path: Path
) -> None:
    (tmp_path / ".git").mkdir()
    folder = adapted(tmp_path, "--reward", "rewards:f")
    (folder / "requirements.txt").touch()
    (tmp_path / "prices").mkdir()
    agent = folder / "agent.py"
    path = "import sys, os; sys.path.insert(0, os.path.join(__file__, '..', '..'))\n"
    agent.write_text(
        agent.read_text().replace(
            "import json", f"import json\n{path * adds}import prices"
        )
    )
    fix = found(folder, "raised")["fix"]
    remedy = "rehearse with --in-place" if adds else f"PYTHONPATH={tmp_path};"
    assert "prices is meant, " in fix and remedy in fix
    if not adds:  # and that is enough
        code, _, _ = rehearse("agent_train.py", cwd=folder, PYTHONPATH=f"{tmp_path}")
        assert code == 0


@pytest.mark.slow
def test_a_few_lost_episodes_are_told(tmp_path: Path) -> None:
    """A model learns nothing from what raises before it is asked."""
    folder = copy_of("support_loop", tmp_path)
    agent = folder / "agent.py"
    raising = '    TURNS.append(1)\n    if len(TURNS) % 4 == 0:\n        raise OSError("the state is locked")\n'
    text = agent.read_text().replace(
        "    messages = [", f"{raising}    messages = [", 1
    )
    agent.write_text(text.replace("def run_agent", "TURNS = []\n\n\ndef run_agent", 1))
    (folder / "rewards.py").write_text(REWARD)
    options = ("--isolated", "--reward", "rewards:f", "--isolate", "none")
    assert art_adapt(*options, "agent.py", cwd=folder).returncode == 0
    assert "the state is locked" in found(folder, "failed")["what"]


BOUND = {
    "a connection": (
        "import sqlite3\ndb = sqlite3.connect(':memory:')",
        "db.execute('select 1')",
        "check_same_thread",
    ),
    "an event loop": (
        "import asyncio",
        "asyncio.get_event_loop().run_until_complete(asyncio.sleep(0))",
        "asyncio.run",
    ),
    "a signal": (
        "import signal",
        "signal.signal(signal.SIGALRM, signal.SIG_DFL)",
        "subprocess",
    ),
}


@pytest.mark.parametrize(
    "what",
    [
        "a connection",
        *(pytest.param(w, marks=pytest.mark.slow) for w in list(BOUND)[1:]),
    ],
)
def test_a_tool_that_works_in_the_main_thread_only_is_told(
    what: str, tmp_path: Path
) -> None:
    """The agent gives the error to its model, and no episode fails."""
    if what == "an event loop" and importlib.util.find_spec("peft"):
        # Its import reaches mp_actors (0.5.18, move.py), which lets any thread have a loop.
        pytest.skip("ART's local backend can be imported here, and mends it")
    before, work, fix = BOUND[what]
    folder = copy_of("support_loop", tmp_path)
    agent = folder / "agent.py"
    text = agent.read_text().replace("import json\n", f"import json\n{before}\n", 1)
    tried = (
        f"try:\n                {work}\n                result = 'done'\n"
        "            except Exception as error:\n                result = str(error)"
    )
    agent.write_text(
        text.replace("result = REGISTRY[call.function.name](**arguments)", tried)
    )
    (folder / "rewards.py").write_text(REWARD)
    options = ("--isolated", "--reward", "rewards:f")
    assert art_adapt(*options, "agent.py", cwd=folder).returncode == 0
    finding = found(folder, "threads")
    assert fix in finding["fix"]
    assert Path(finding["path"]).name == "agent.py", "that is what has to be changed"


@pytest.mark.slow
def test_a_policy_that_judges_itself_is_caught(tmp_path: Path) -> None:
    folder = adapted(tmp_path)
    module = folder / "agent_train.py"
    own = 'extra_litellm_params={"api_key": "rehearsal-policy"}'
    source = module.read_text().replace(
        'JUDGE_MODEL = "openai/gpt-5.4"', 'JUDGE_MODEL = "openai/rehearsal@0"'
    )
    source = source.replace("ruler(JUDGE_MODEL)", f"ruler(JUDGE_MODEL, {own})")
    module.write_text(source)
    finding = found(folder, "judge")
    assert "JUDGE_MODEL =" in module.read_text().splitlines()[finding["line"] - 1]


def test_a_module_that_raises_is_told_where(tmp_path: Path) -> None:
    folder = adapted(tmp_path, "--reward", "rewards:f")
    module = folder / "agent_train.py"
    module.write_text(
        module.read_text().replace("usable(sampled)\n", "usable(sample)\n", 1)
    )
    finding = found(folder, "raised")
    assert "NameError" in finding["what"]
    assert "usable(sample)" in module.read_text().splitlines()[finding["line"] - 1]


@pytest.mark.slow
def test_missing_scenarios_are_what_it_says(tmp_path: Path) -> None:
    folder = adapted(tmp_path, "--reward", "rewards:f")
    (folder / "scenarios.jsonl").unlink()
    assert "with the keys question" in found(folder, "stopped")["what"]


@pytest.mark.slow
def test_a_run_in_which_most_episodes_failed_does_not_pass(tmp_path: Path) -> None:
    folder = copy_of("support_loop", tmp_path)
    agent = folder / "agent.py"
    service = 'raise ConnectionError("no such service: orders.internal")'
    text = agent.read_text().replace(
        "        message = response", f"        {service}\n        message = response"
    )
    agent.write_text(text)
    assert art_adapt("--isolated", "agent.py", cwd=folder).returncode == 0
    code, said, _ = rehearse("agent_train.py", "--html", "page.html", cwd=folder)
    assert code == 1 and "12 failed" in said
    page = (folder / "page.html").read_text()
    assert page.index("Would go wrong") < page.index("<h2>Failed episode")
    assert "no such service: orders.internal" in page[page.index("<h2>Failed") :]
    assert "no such service: orders.internal" in said and "agent.py:" in said


@pytest.mark.slow
def test_it_ends_with_how_to_train_and_what_that_takes(tmp_path: Path) -> None:
    folder = adapted(tmp_path)
    module = folder / "agent_train.py"
    text = module.read_text().replace("openai/gpt-5.4", "openai/gpt-4o")
    module.write_text(text.replace("MAX_STEPS = 50", "MAX_STEPS = 4"))
    code, said, _ = rehearse("agent_train.py", "--gpu", "l4", cwd=folder)
    assert code == 0
    end = said[said.index("On a machine with an NVIDIA GPU") :]
    for command in INSTALL[Backend.LOCAL]:
        assert command in end
    assert re.search(r"4 steps; at least [\d.]+ (s|min|h) on one L4", end), end
    assert "no step starts after 12 h" in end
    assert re.search(
        r"judge +openai/gpt-4o, 2 requests a step: (at least \$0\.\d\d|under a cent)",
        end,
    )

    module.write_text(module.read_text().replace('"local"  #', '"serverless"  #'))
    _, said, _ = rehearse("agent_train.py", "--json", cwd=folder)
    outlook = json.loads(said)["outlook"]
    assert (outlook["steps"], outlook["hours"], outlook["least"]) == (4, 12, None)
    (judge,) = outlook["beside"]
    assert judge["what"] == "judge" and 0 < judge["dollars"] < 1


@pytest.mark.slow
def test_replies_of_ones_own_and_a_page(tmp_path: Path) -> None:
    folder = adapted(tmp_path, "--reward", "rewards:f")
    (folder / "replies.jsonl").write_text(
        '{"content": "yes"}\n{"content": "no, never"}\n'
    )
    code, said, _ = rehearse(
        *("agent_train.py", "--replies", "replies.jsonl", "--html", "page.html"),
        cwd=folder,
        OPENAI_API_KEY="sk-secret",
    )
    assert code == 0 and "Nothing found that would cost a run." in said
    assert "1.0 turns" in said
    page = (folder / "page.html").read_text()
    assert "Nothing found" in page and "http" not in page and "sk-secret" not in page
    first, *read = re.findall(r"<h2>(\w+) episode: reward", page)
    assert first == "Best" and "Worst" in read
    best = page.index("<h2>Best")
    assert page.index("Nothing found") < page.index("recorded") < best
    assert "no, never" in page[best:]


@pytest.mark.wide
def test_its_page_shows_the_tools_that_an_episode_called(tmp_path: Path) -> None:
    folder = adapted(tmp_path, "--reward", "rewards:f")
    rehearse("agent_train.py", "--html", "page.html", cwd=folder)
    said = re.findall(r"<b>(\w+)</b><pre>(.*)", (folder / "page.html").read_text())
    results = [at for at, (role, _) in enumerate(said) if role == "tool"]
    assert results
    for at in results:
        assert re.match(r"look_up_order\(|return_policy\(", said[at - 1][1])


@pytest.mark.slow
def test_the_same_rehearsal_twice_says_the_same(tmp_path: Path) -> None:
    folder = adapted(tmp_path, "--reward", "rewards:f")
    told = [
        json.loads(rehearse("agent_train.py", "--json", "--seed", "3", cwd=folder)[1])
        for _ in range(2)
    ]
    for figures in (each["figures"] for each in told):
        del figures["seconds"]
    assert told[0]["figures"] == told[1]["figures"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("missing.py",), "missing.py: no such file"),
        (("agent_train.py", "--replies", "bad.jsonl"), "cannot read the replies"),
    ],
)
def test_what_it_cannot_rehearse(
    arguments: tuple[str, ...], message: str, tmp_path: Path
) -> None:
    folder = adapted(tmp_path, "--reward", "rewards:f")
    (folder / "bad.jsonl").write_text("{}\n")
    code, said, complaints = rehearse(*arguments, cwd=folder)
    assert (code, said) == (2, "") and message in complaints


def without_a_database(folder: Path) -> None:
    """Let the agent raise before it has called the model."""
    agent = folder / "agent.py"
    begin = "def run_agent("
    head, _, rest = agent.read_text().partition(begin)
    signature, _, body = rest.partition(":\n")
    raised = '    raise RuntimeError("no database here")\n'
    agent.write_text(f"{head}{begin}{signature}:\n{raised}{body}")


def test_an_agent_that_cannot_run_is_counted_once_with_its_cause(
    tmp_path: Path,
) -> None:
    """An episode without a call is lost, and is no second failure besides."""
    folder = adapted(tmp_path, "--reward", "rewards:f")
    without_a_database(folder)
    finding = found(folder, "failed")
    failed, _, began = finding["what"].partition(" of ")
    assert failed == began.split()[0]
    assert "no database here" in finding["what"] and "agent.py:" in finding["what"]


@pytest.mark.slow
def test_a_pipeline_without_anything_to_learn_from_ends(tmp_path: Path) -> None:
    """PipelineTrainer itself passes over what fails, to the last scenario."""
    folder = adapted(tmp_path, "--pipeline", "--epochs", "0")
    without_a_database(folder)
    module = folder / "agent_train.py"
    module.write_text(module.read_text().replace("WORKERS = 16", "WORKERS = 2"))
    finding = found(folder, "stopped")
    assert "2 groups in a row had nothing to learn from" in finding["what"]
    assert "no database here" in finding["what"]


@pytest.mark.parametrize(
    ("given", "code", "said"),
    first_now(
        [
            ("tools=TOOLS", 0, "tools       "),
            ("tools=[]", 1, "requests have an empty list of tools"),
            ("tools=None", 1, "no request offered a tool"),
        ]
    ),
)
def test_tools_that_are_offered_are_named(
    given: str, code: int, said: str, tmp_path: Path
) -> None:
    folder = copy_of("support_loop", tmp_path)
    agent = folder / "agent.py"
    text = agent.read_text()
    assert "tools=TOOLS" in text
    agent.write_text(text.replace("tools=TOOLS", given))
    (folder / "rewards.py").write_text(REWARD)
    options = ("--isolated", "--reward", "rewards:f")
    assert art_adapt(*options, "agent.py", cwd=folder).returncode == 0
    done, out, errors = rehearse("agent_train.py", "--steps", "1", cwd=folder)
    assert done == code, out + errors
    assert said in out


def test_a_variable_that_the_agent_misses_is_named(tmp_path: Path) -> None:
    folder = adapted(tmp_path, "--reward", "rewards:f")
    agent = folder / "agent.py"
    agent.write_text(
        agent.read_text() + '\nimport os\n\nSHOP = os.environ["SHOP_NAME"]\n'
    )
    assert "--env SHOP_NAME" in found(folder, "raised")["fix"]


CRITIC = """\
from openai import OpenAI


class Critic:
    def __init__(self, client: OpenAI) -> None:
        self.client = client

    def critique(self, text: str) -> str:
        messages = [{"role": "user", "content": f"Criticise: {text}"}]
        answer = self.client.chat.completions.create(model="gpt-4.1-mini", messages=messages)
        return answer.choices[0].message.content


class Agent:
    def __init__(self, client: OpenAI) -> None:
        self.client = client
        self.critic = Critic(client)

    def run(self, question: str) -> str:
        messages = [{"role": "user", "content": question}]
        for _ in range(2):
            answer = self.client.chat.completions.create(model="gpt-4o", messages=messages)
            messages.append({"role": "assistant", "content": answer.choices[0].message.content})
            said = self.critic.critique(answer.choices[0].message.content)
            messages.append({"role": "user", "content": said})
        return messages[-2]["content"]
"""


def test_side_jobs_over_the_given_client_reach_their_own_model(tmp_path: Path) -> None:
    (tmp_path / "agent.py").write_text(CRITIC)
    (tmp_path / "rewards.py").write_text(REWARD)
    rows = [json.dumps({"question": f"question {n}"}) for n in range(4)]
    (tmp_path / "scenarios.jsonl").write_text("\n".join(rows))
    options = ("--isolated", "--reward", "rewards:f", "--entry", "Agent.run")
    assert art_adapt(*options, "agent.py", cwd=tmp_path).returncode == 0
    assert 'KEYS = ("OPENAI_API_KEY",)' in (tmp_path / "agent_train.py").read_text()
    _, said, complaints = rehearse("agent_train.py", "--json", cwd=tmp_path)
    told = json.loads(said)
    assert told["figures"]["answered"] == told["figures"]["episodes"], complaints
    names = {finding["name"] for finding in told["findings"]}
    assert names.isdisjoint({"inference name", "failed"}), told["findings"]
    (asked,) = told["outlook"]["beside"]  # what the run pays for besides the GPU
    assert (asked["what"], asked["model"]) == ("side jobs", "gpt-4.1-mini")
    assert asked["requests"] == 2 * told["figures"]["episodes"] / 2
    assert 0 < asked["dollars"] < 1


def test_requests_for_embeddings_are_counted(tmp_path: Path) -> None:
    (tmp_path / "agent.py").write_text(
        "from openai import OpenAI\n\nclient = OpenAI()\nNOTES = ['two notes', 'on refunds']\n\n\n"
        "def answer(question: str) -> str:\n"
        "    client.embeddings.create(model='text-embedding-3-small', input=[question, *NOTES])\n"
        "    messages = [{'role': 'user', 'content': question}]\n"
        "    reply = client.chat.completions.create(model='m', messages=messages)\n"
        "    return reply.choices[0].message.content\n"
    )
    (tmp_path / "rewards.py").write_text(REWARD)
    rows = [json.dumps({"question": f"question {n}"}) for n in range(4)]
    (tmp_path / "scenarios.jsonl").write_text("\n".join(rows))
    options = ("--isolated", "--reward", "rewards:f")
    assert art_adapt(*options, "agent.py", cwd=tmp_path).returncode == 0
    _, said, complaints = rehearse("agent_train.py", "--json", cwd=tmp_path)
    told = json.loads(said)
    episodes = told["figures"]["episodes"]
    assert told["figures"]["embeddings"] == episodes, complaints
    (asked,) = told["outlook"]["beside"]
    assert asked["what"] == "embeddings" and asked["requests"] == episodes / 2
    tokens = 6 * told["outlook"]["steps"] * asked["requests"]
    assert asked["dollars"] == pytest.approx(tokens * 2e-8)
    _, said, _ = rehearse("agent_train.py", cwd=tmp_path)
    assert f"other models, {episodes} requests for embeddings" in said
    assert "text-embedding-3-small" in said and "under a cent" in said
