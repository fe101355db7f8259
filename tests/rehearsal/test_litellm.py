"""Whatever provider LiteLLM is asked for, the scripted model answers."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from textwrap import dedent

import pytest
from agent_files import art_adapt, first_now
from test_rehearse import rehearse

from art_adapt import litellm_calls
from art_adapt.rehearsal.scripted_model import ScriptedModel

ASKED = '[{"role": "user", "content": "Why?"}]'
# How an agent asks through LiteLLM, and the name of the model that it asks for.
SPELLINGS = {
    "by the module": ("anthropic/claude-x", "litellm.completion(model=MODEL, messages=ASKED)"),
    "imported before": ("gemini/gemini-x", "completion(MODEL, ASKED)"),
    "later": ("bedrock/anthropic.claude-x", "asyncio.run(litellm.acompletion(model=MODEL, messages=ASKED))"),
    "of OpenAI": ("gpt-x", "litellm.completion(model=MODEL, messages=ASKED)"),
    "with an address": ("openai/mine", "litellm.completion(model=MODEL, messages=ASKED, api_base='https://models.test')"),
    "of a provider by name": ("mine", "litellm.completion(model=MODEL, messages=ASKED, custom_llm_provider='mistral')"),
    "by a router": ("groq/llama-x", "litellm.Router([{'model_name': 'a', 'litellm_params': {'model': MODEL}}]).completion('a', ASKED)"),
    "on this machine": ("ollama/llama-x", "litellm.completion(model=MODEL, messages=ASKED, api_base='http://localhost:11434')"),
    "streamed": ("ollama/llama-x", "[*litellm.completion(model=MODEL, messages=ASKED, stream=True)]"),
}  # fmt: skip


def run_alone(code: str, folder: Path) -> None:
    """Run code in a process of its own, which knows no key."""
    done = subprocess.run(
        [sys.executable, "-c", dedent(code)],
        env={"PATH": os.environ["PATH"], "LITELLM_LOCAL_MODEL_COST_MAP": "True"},
        cwd=folder,
        capture_output=True,
        timeout=100,
    )
    assert done.returncode == 0, done.stderr.decode()


@pytest.mark.parametrize("spelling", first_now(SPELLINGS))
def test_any_provider_is_answered(spelling: str, tmp_path: Path) -> None:
    name, call = SPELLINGS[spelling]
    with ScriptedModel(seed=0, rows=()) as model:
        asking = f"""
            import asyncio, importlib.util
            spec = importlib.util.spec_from_file_location("calls", {litellm_calls.__file__!r})
            module = importlib.util.module_from_spec(spec)
            spec.loader.exec_module(module)
            module.answer_litellm({model.url!r})
            import litellm
            from litellm import completion
            MODEL, ASKED = {name!r}, {ASKED}
            answer = {call}
            print(answer)
            """
        run_alone(asking, tmp_path)
        (exchange,) = model.log
    assert exchange.request["model"] == name.removeprefix("openai/")
    assert exchange.request["messages"] == json.loads(ASKED)


@pytest.mark.parametrize(
    "call",
    first_now(["'Why?', model=MODEL", "'Why?', MODEL", "input='Why?', model=MODEL"]),
)
def test_the_input_of_a_response_is_no_model(call: str, tmp_path: Path) -> None:
    with ScriptedModel(seed=0, rows=()) as model:
        asking = f"""
            from art_adapt.litellm_calls import answer_litellm
            answer_litellm({model.url!r})
            import litellm
            MODEL = "anthropic/claude-x"
            print(litellm.responses({call}))
            """
        run_alone(asking, tmp_path)
        (exchange,) = model.log
    assert exchange.request["model"] == "anthropic/claude-x"
    assert "'Why?'" in str(exchange.request["messages"])


def test_a_judge_and_a_side_job_of_other_providers_are_rehearsed(
    tmp_path: Path,
) -> None:
    agent = """
        import litellm
        from openai import OpenAI

        def topic(text):
            asked = [{"role": "user", "content": f"The topic of: {text}"}]
            reply = litellm.completion(model="gemini/gemini-x", messages=asked)
            return reply.choices[0].message.content

        def ask(question: str) -> str:
            messages = [{"role": "user", "content": topic(question) + question}]
            reply = OpenAI().chat.completions.create(model="m", messages=messages)
            return reply.choices[0].message.content
        """
    (tmp_path / "agent.py").write_text(dedent(agent))
    rows = [json.dumps({"question": f"What is {n}?"}) for n in range(4)]
    (tmp_path / "scenarios.jsonl").write_text("\n".join(rows))
    judge = ("--judge-model", "anthropic/claude-x", "--auxiliary", "topic")
    done = art_adapt("--isolated", *judge, "agent.py", cwd=tmp_path)
    assert done.returncode == 0, done.stderr.decode()
    code, said, complaints = rehearse("agent_train.py", cwd=tmp_path)
    assert code == 0, said + complaints
    assert "anthropic/claude-x" in said and "gemini/gemini-x" in said


def test_a_scripted_run_answers_any_provider(tmp_path: Path) -> None:
    agent = """
        import sys
        import litellm

        def ask(question: str) -> str:
            messages = [{"role": "user", "content": question}]
            reply = litellm.completion(model="gemini/gemini-x", messages=messages)
            return reply.choices[0].message.content

        print(ask(sys.argv[1]))
        """
    (tmp_path / "agent.py").write_text(dedent(agent))
    command = (sys.executable, "agent.py", "Why is it cold?")
    done = art_adapt("capture", "--scripted", "--", *command, cwd=tmp_path)
    assert done.returncode == 0, done.stderr.decode()
    (row,) = (tmp_path / "scenarios.jsonl").read_text().splitlines()
    assert json.loads(row)["question"] == "Why is it cold?"
