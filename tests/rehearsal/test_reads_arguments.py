"""An episode that reads the command line gets that of the training run: a finding says so."""

from __future__ import annotations

from pathlib import Path

import pytest
from agent_files import first_now
from test_witnesses import rehearsed

HEAD = """\
import argparse
import sys

from openai import OpenAI

client = OpenAI()


def ask(text):
    messages = [{"role": "user", "content": text}]
    reply = client.chat.completions.create(model="m", messages=messages)
    return str(reply.choices[0].message.content)


"""
READS = {
    "argparse": """\
def run_agent(question: str) -> str:
    parser = argparse.ArgumentParser()
    parser.add_argument("--tone", default="dry")
    return ask(f"{parser.parse_args().tone}: {question}")
""",
    "argparse that needs an option": """\
def run_agent(question: str) -> str:
    parser = argparse.ArgumentParser()
    parser.add_argument("--tone", required=True)
    return ask(f"{parser.parse_args().tone}: {question}")
""",
    "its own parser": """\
def options():
    return dict(each.split("=") for each in sys.argv[1:] if "=" in each)


def run_agent(question: str) -> str:
    return ask(options().get("tone", "dry") + question)
""",
}
READS_NOT = {
    "the program's name": """\
def run_agent(question: str) -> str:
    return ask(f"{sys.argv[0][:3]} {question}")
""",
    "when it is imported": """\
TONE = sys.argv[1] if len(sys.argv) > 1 else "dry"


def run_agent(question: str) -> str:
    return ask(f"{TONE}: {question}")
""",
    "options that it is given": """\
def run_agent(question: str) -> str:
    parser = argparse.ArgumentParser()
    parser.add_argument("--tone", default="dry")
    return ask(f"{parser.parse_args([]).tone}: {question}")
""",
}


def found(folder: Path, agent: str, isolate: str | None = None) -> list[str]:
    told = rehearsed(folder, agent, "run_agent", head=HEAD, isolate=isolate)
    return [each["name"] for each in told["findings"]]


@pytest.mark.parametrize("kind", first_now(READS, 2))
def test_an_episode_that_reads_the_command_line_is_found(
    kind: str, tmp_path: Path
) -> None:
    assert "command line" in found(tmp_path, READS[kind])


@pytest.mark.wide
def test_so_it_is_in_a_process_of_its_own(tmp_path: Path) -> None:
    assert "command line" in found(tmp_path, READS["argparse"], "process")


@pytest.mark.parametrize("kind", first_now(READS_NOT))
def test_what_only_comes_near_is_not(kind: str, tmp_path: Path) -> None:
    assert "command line" not in found(tmp_path, READS_NOT[kind])
