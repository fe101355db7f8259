"""Every combination of packages that the documents name can be installed: a resolver finds it."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from agent_files import REPOSITORY

pytestmark = pytest.mark.slow
PROJECT: dict[str, Any] = tomllib.loads(
    (REPOSITORY / "pyproject.toml").read_text(encoding="utf-8")
)["project"]
# ART pins a build of torch that is in PyTorch's index for CUDA, which tests cannot reach.
ON_THE_REGISTRY = "torch==2.11.0"


def requirements(*extras: str) -> Iterator[str]:
    yield from PROJECT["dependencies"]
    for extra in extras:
        for each in PROJECT["optional-dependencies"][extra]:
            if each.startswith("art-adapt["):
                yield from requirements(*each[len("art-adapt[") : -1].split(","))
            else:
                yield each


@pytest.mark.parametrize(
    ("python", "extras", "beside", "found"),
    [
        ("3.11", ("train",), (), "openpipe-art==0.5.18"),
        ("3.12", ("train",), (), "openpipe-art==0.5."),
        ("3.13", ("train",), (), "openpipe-art==0.5."),
        ("3.11", ("rehearse",), (), "transformers==5.2.0"),
        ("3.12", ("rehearse",), (), "transformers==5.12.1"),
        ("3.11", ("engine",), (), "peft=="),
        ("3.12", ("engine",), (), "peft=="),
        # On the machine that trains; and to rehearse there as well.
        ("3.12", ("train",), ("openpipe-art[backend]",), "unsloth=="),
        ("3.12", ("rehearse",), ("openpipe-art[backend]",), "transformers==5.2.0"),
        ("3.12", ("engine",), ("openpipe-art[backend]",), "transformers==5.2.0"),
        ("3.12", ("train",), ("openpipe-art[tinker]",), "tinker=="),
        # Agents of frameworks that need openai 3.
        ("3.11", ("train",), ("openai-agents>=0.21",), "openai==3."),
        ("3.11", ("train",), ("pydantic-ai>=2.35",), "openai==3."),
    ],
)
def test_a_resolver_finds(
    python: str,
    extras: tuple[str, ...],
    beside: tuple[str, ...],
    found: str,
    tmp_path: Path,
) -> None:
    wanted, override = tmp_path / "wanted.in", tmp_path / "override.in"
    wanted.write_text("\n".join([*requirements(*extras), *beside]))
    override.write_text(ON_THE_REGISTRY if "openpipe-art[backend]" in beside else "")
    command = [sys.executable, "-m", "uv", "pip", "compile", "--quiet", "--no-header"]
    done = subprocess.run(
        [*command, "--python-version", python, "--override", override, wanted],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert found in done.stdout
