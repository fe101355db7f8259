"""Starts a worker process that asks the model."""

import subprocess
import sys
from pathlib import Path

WORKER = Path(__file__).with_name("worker.py")


def ask(prompt: str) -> str:
    done = subprocess.run(
        [sys.executable, str(WORKER)],
        input=prompt,
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.strip()


def answer(question: str) -> str:
    outline = ask(f"Outline an answer: {question}")
    return ask(f"Answer {question} along these lines: {outline}")
