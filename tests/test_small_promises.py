"""Promises that a line of code keeps or breaks."""

from __future__ import annotations

import http.client
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from agent_files import AGENTS, art_adapt, copy_of

from art_adapt.backends import Backend
from art_adapt.installing import is_from_a_folder, pip_install
from art_adapt.rehearsal.scripted_model import ScriptedModel
from art_adapt.report.training import training_lines
from art_adapt.scenarios.append import append_rows


@pytest.mark.parametrize("name", ["art", "openai", "typing", "queue", "litellm"])
def test_an_agent_that_hides_a_module(name: str, tmp_path: Path) -> None:
    file = tmp_path / f"{name}.py"
    text = (AGENTS / "support_loop" / "agent.py").read_text()
    file.write_text(text)
    done = art_adapt("--isolated", file.name, cwd=tmp_path)
    said = done.stderr.decode()
    assert done.returncode == 2 and f"hides the module {name}" in said
    assert "Traceback" not in said and file.read_text() == text
    package = tmp_path / "agents"
    package.mkdir()
    (package / "__init__.py").touch()
    file.rename(package / file.name)
    done = art_adapt("--isolated", f"agents/{name}.py", cwd=tmp_path)
    assert "hides" not in done.stderr.decode()


def test_an_agent_that_a_package_of_its_name_hides(tmp_path: Path) -> None:
    """``import desk`` is the package, whatever lies beside it."""
    text = (AGENTS / "support_loop" / "agent.py").read_text()
    (tmp_path / "desk.py").write_text(text)
    (tmp_path / "desk").mkdir()  # without an __init__.py, the file goes before it
    assert art_adapt("--isolated", "--diff", "desk.py", cwd=tmp_path).returncode == 1
    (tmp_path / "desk" / "__init__.py").touch()
    done = art_adapt("--isolated", "desk.py", cwd=tmp_path)
    assert done.returncode == 2 and b"takes the package desk" in done.stderr
    assert (tmp_path / "desk.py").read_text() == text


@pytest.mark.parametrize("project", ["../../x", "a/b", "..", "a\\b", "a\nb"])
def test_a_project_is_one_folder(project: str, tmp_path: Path) -> None:
    folder = copy_of("support_loop", tmp_path)
    done = art_adapt("--isolated", "--project", project, "agent.py", cwd=folder)
    assert done.returncode == 2 and b"is not a valid name for a project" in done.stderr
    assert not (folder / "agent_train.py").exists()


def test_what_reads_the_output_may_stop_early(tmp_path: Path) -> None:
    """``art-adapt --yes agent.py | head -1`` writes all that it would."""
    folder = copy_of("support_loop", tmp_path)
    command = [sys.executable, "-m", "art_adapt", "--isolated", "--yes", "agent.py"]
    process = subprocess.Popen(
        command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert process.stdout is not None and process.stderr is not None
    process.stdout.close()  # before anything is written to it
    assert process.stderr.read() == b""
    process.wait(60)
    assert (folder / "agent_train.py").exists()


@pytest.mark.parametrize("command", [["--diff"], ["check"]])
def test_a_file_that_is_too_large(command: list[str], tmp_path: Path) -> None:
    (tmp_path / "agent.py").write_text(
        f"import art\nfrom openai import OpenAI\nDATA = [{'1, ' * 5_000_000}]\n"
    )
    done = art_adapt(*command, "agent.py", cwd=tmp_path)
    said = (done.stdout + done.stderr).decode()
    assert done.returncode in (1, 2) and "too large for an agent: 15 MB" in said


@pytest.mark.skipif(os.name == "nt", reason="modes")
def test_a_read_only_folder_stays_as_it_is(tmp_path: Path) -> None:
    folder = copy_of("support_loop", tmp_path)
    before = sorted(folder.iterdir())
    folder.chmod(0o555)
    try:
        done = art_adapt("--isolated", "agent.py", cwd=folder)
        assert done.returncode == 2 and b"is read-only" in done.stderr
        assert sorted(folder.iterdir()) == before
    finally:
        folder.chmod(0o755)


def test_rows_from_production_are_their_owners(tmp_path: Path) -> None:
    path = tmp_path / "scenarios.jsonl"
    append_rows(path, [{"question": "Who?"}])
    assert path.stat().st_mode & 0o777 == 0o600
    path.chmod(0o640)
    append_rows(path, [{"question": "Where?"}])
    assert path.stat().st_mode & 0o777 == 0o640


def test_a_rehearsals_endpoint_answers_nobody_else(
    capfd: pytest.CaptureFixture[str],
) -> None:
    body = json.dumps({"model": "m", "messages": [{"role": "user", "content": "?"}]})
    headers = {"Authorization": "Bearer rehearsal-policy"}
    with ScriptedModel(0, ()) as model:
        model.served = ("m",)
        host = model.url.split("/")[2]
        own = f"/{model.url.split('/')[3]}/v1/chat/completions"
        for path, length, status in (
            ("/v1/chat/completions", None, 404),
            ("/chat/completions", None, 404),
            (own, "many", 400),
            (own, None, 200),
        ):
            connection = http.client.HTTPConnection(host)
            more = {"Content-Length": length} if length else {}
            connection.request("POST", path, body, {**headers, **more})
            assert connection.getresponse().status == status, path
            connection.close()
        assert len(model.log) == 1
    assert capfd.readouterr().err == ""


@pytest.mark.parametrize("module", ["art_adapt.training", "art_adapt.doctor"])
def test_an_import_asks_no_network(module: str) -> None:
    script = (
        "import socket, sys\n"
        "def refused(*_, **__): sys.exit('asked the network')\n"
        "socket.getaddrinfo = socket.create_connection = refused\n"
        f"import {module}, art, litellm\n"
    )
    environment = {
        k: v for k, v in os.environ.items() if k != "LITELLM_LOCAL_MODEL_COST_MAP"
    }
    done = subprocess.run(
        [sys.executable, "-c", script], env=environment, capture_output=True
    )
    assert done.returncode == 0, done.stderr.decode()


@pytest.mark.parametrize("inside", [True, False])
def test_a_package_is_trained_from_the_folder_above_it(
    inside: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Wherever somebody rehearsed it."""
    folder = copy_of("package_agent", tmp_path)
    assert art_adapt("--isolated", "triage/agent.py", cwd=folder).returncode == 0
    monkeypatch.chdir(folder / "triage" if inside else folder)
    module = Path("agent_train.py" if inside else "triage/agent_train.py")
    (train,) = (
        line.text
        for line in training_lines(module, Backend.LOCAL)
        if line.label == "train"
    )
    assert train == "cd .. && " * inside + "python -m triage.agent_train"


@pytest.mark.parametrize(
    ("project", "told"),
    [
        ('requires-python = ">=3.13"', True),
        ('requires-python = "==3.11.*"', True),
        ('requires-python = ">=3.10,<3.13"', False),
        ('name = "agent"', False),
        ("requires-python = 3", False),  # not what the field may hold
    ],
)
def test_a_python_that_the_backend_lacks_is_told_before_anybody_pays(
    project: str, told: bool, tmp_path: Path
) -> None:
    (tmp_path / "pyproject.toml").write_text(f"[project]\n{project}\n")
    module = tmp_path / "agent_train.py"
    said = [str(line) for line in training_lines(module, Backend.LOCAL)]
    assert any("leaves 3.12 out" in each for each in said) is told
    said = [str(line) for line in training_lines(module, Backend.SERVERLESS)]
    assert not any("leaves" in each for each in said)


def test_an_extra_is_installed_from_where_art_adapt_came(tmp_path: Path) -> None:
    """A clone is named: until art-adapt is on an index, its name alone finds nothing."""
    command = pip_install("train")
    assert ("[train]" in command) and (
        command == "pip install 'art-adapt[train]'" or "/" in command
    )
    assert is_from_a_folder() is ("/" in command)
