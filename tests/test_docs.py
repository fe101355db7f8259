"""What the documents say is so: the README's diff, its commands, the files that they name."""

from __future__ import annotations

import difflib
import itertools
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import click
import pytest
import typer
import yaml
from agent_files import AGENTS, REPOSITORY, art_adapt, copy_of

from art_adapt.backends import INSTALL, Backend
from art_adapt.commands import COMMANDS
from art_adapt.training.gpu_failures import ADVICE

README = (REPOSITORY / "README.md").read_text(encoding="utf-8")
REVIEW = (REPOSITORY / "docs" / "review.md").read_text(encoding="utf-8")
DOCUMENTS = [
    REPOSITORY / "README.md",
    REPOSITORY / "CONTRIBUTING.md",
    *(REPOSITORY / "docs").glob("*.md"),
]


def test_the_readme_shows_the_real_diff() -> None:
    folder = AGENTS / "support_loop"
    before, after = (
        (folder / name).read_text().splitlines()
        for name in ("agent.py", "adapted/agent.py")
    )
    diff = "\n".join(
        difflib.unified_diff(before, after, "a/agent.py", "b/agent.py", lineterm="")
    )
    assert f"```diff\n{diff}\n```" in README


def test_ci_runs_the_readmes_commands() -> None:
    script = (REPOSITORY / ".ci" / "run").read_text()
    install_and_test = re.search(r"```sh\n(.*pytest.*)\n```", README)
    assert install_and_test is not None and install_and_test[1] in script
    first = re.search(r"(art-adapt --diff \S+)\n```", README)
    assert first is not None and first[1] in script


@pytest.mark.parametrize(
    "recorded", [False, pytest.param(True, marks=pytest.mark.wide)]
)
def test_the_workflow_comments_on_what_is_not_recorded(
    recorded: bool, tmp_path: Path
) -> None:
    workflow = yaml.safe_load(
        re.search(r"```yaml\n(.*?)```", REVIEW, re.DOTALL)[1]  # type: ignore[index]
    )
    check, comment = workflow["jobs"]["trajectories"]["steps"][-2:]
    folder = copy_of("support_loop", tmp_path)
    if recorded:
        assert art_adapt("--isolated", "agent.py", cwd=folder).returncode == 0
    gh = tmp_path / "bin" / "gh"
    gh.parent.mkdir()
    gh.write_text('#!/bin/sh\nfor last; do :; done\ncp "$last" comment.md\n')
    gh.chmod(0o755)
    found = os.pathsep.join([str(gh.parent), str(Path(sys.executable).parent)])
    for step in (check, comment):
        line = step["run"].replace("${{ github.event.number }}", "7")
        done = subprocess.run(
            ["bash", "-e", "-c", line],
            cwd=folder,
            env={**os.environ, "PATH": f"{found}{os.pathsep}{os.environ['PATH']}"},
            capture_output=True,
        )
        assert done.returncode == 0, done.stderr.decode()
    said = folder / "comment.md"
    assert said.exists() is not recorded
    assert recorded or said.read_text().startswith("## art-adapt: agent.py\n")


@pytest.mark.parametrize("page", ["quickstart.md", "train-on-gpu.md", "rehearsal.md"])
def test_pages_install_what_the_tool_says(page: str) -> None:
    text = (REPOSITORY / "docs" / page).read_text(encoding="utf-8")
    for command in INSTALL[Backend.LOCAL]:
        assert command in text


def test_no_page_installs_a_backend_otherwise() -> None:
    said = {line for lines in INSTALL.values() for line in lines}
    for document in DOCUMENTS:
        code = document.read_text(encoding="utf-8")
        for line in re.findall(
            r"(?:uv )?pip install [^`\n]*openpipe-art\[[^`\n]*", code
        ):
            assert line in said, f"{document.name}: {line}"


def test_the_quickstart_is_short_and_begins_with_a_run() -> None:
    text = (REPOSITORY / "docs" / "quickstart.md").read_text(encoding="utf-8")
    assert len(text.split()) <= 900
    assert next(commands_in(text)).startswith("art-adapt capture -- ")


def test_a_choice_is_explained_as_the_page_shows(tmp_path: Path) -> None:
    page = (REPOSITORY / "docs" / "choose-episode.md").read_text(encoding="utf-8")
    folder = copy_of("judge_and_policy", tmp_path)
    said = art_adapt("explain", "--entry", "agent.py", cwd=folder)
    assert said.returncode == 0 and f"```\n{said.stdout.decode()}```" in page


def test_a_loop_at_module_level_is_refused_as_the_page_shows(tmp_path: Path) -> None:
    page = (REPOSITORY / "docs" / "choose-episode.md").read_text(encoding="utf-8")
    (tmp_path / "agent.py").write_text(
        "from openai import OpenAI\n\nclient = OpenAI()\n"
        'messages = [{"role": "system", "content": "You play twenty questions."}]\n\n\n'
        "def turn(text):\n"
        '    messages.append({"role": "user", "content": text})\n'
        '    reply = client.chat.completions.create(model="m", messages=messages)\n'
        "    messages.append(reply.choices[0].message)\n"
        "    return reply.choices[0].message.content\n\n\n"
        'text = "Start."\nfor _ in range(20):\n    text = turn(text)\n    print(text)\n'
    )
    said = art_adapt("--isolated", "--diff", "agent.py", cwd=tmp_path)
    assert said.returncode == 2
    assert said.stderr.decode().replace(f"{tmp_path}{os.sep}", "") in page


def test_the_table_of_memory_has_the_advice_that_a_run_gives() -> None:
    page = (REPOSITORY / "docs" / "train-on-gpu.md").read_text(encoding="utf-8")
    for signs, advice in ADVICE.items():
        for sign in re.split(r"\|", signs):
            assert sign.replace(".*", " ... ") in page
        for setting in re.findall(r"MODEL = \{.*?\}(?:\}|(?=$|\W))", advice):
            assert setting in page


def code_and_prose(text: str) -> tuple[str, str]:
    """Part a page into what stands in its blocks of code, and the rest."""
    parts = re.split(r"^```.*\n", text, flags=re.MULTILINE)
    return "".join(parts[1::2]), "".join(parts[::2])


def commands_in(text: str) -> Iterator[str]:
    """Yield the command lines of art-adapt in a page's blocks of code, continued ones whole."""
    code, _ = code_and_prose(text)
    for line in code.replace("\\\n", " ").splitlines():
        found = re.match(r"\s*(?:\$ |- run: |run: |check +)?(art-adapt(?: .*)?)$", line)
        if found is not None:
            yield found[1]


def test_every_command_line_is_one() -> None:
    """It is parsed, not run: each option is there, and takes what it is given."""
    seen = 0
    for document in DOCUMENTS:
        for line in commands_in(document.read_text(encoding="utf-8")):
            words = shlex.split(re.split(r"[|>;&]", line)[0], comments=True)[1:]
            name = words[0] if words and words[0] in COMMANDS else "adapt"
            module = import_module(f"art_adapt.commands.{name}")
            arguments = words[1:] if name != "adapt" else words
            command = typer.main.get_command(module.app)
            try:
                command.make_context(name, arguments, resilient_parsing=False)
            except click.exceptions.Exit:
                pass  # --help, --version
            except click.UsageError as error:
                pytest.fail(f"{document.name}: {line}: {error.format_message()}")
            seen += 1
    assert seen > 40


def test_every_table_renders() -> None:
    """Each row has as many cells as the head, and a blank line stands before the table."""
    for document in [*DOCUMENTS, *(REPOSITORY / "docs" / "rules").glob("*.md")]:
        _, text = code_and_prose(document.read_text("utf-8"))
        lines = text.splitlines()
        for at, line in enumerate(lines):
            if not re.fullmatch(r"\|[| :]*-[-| :]*\|", line):
                continue
            place = f"{document.name}: {lines[at - 1]}"
            assert lines[at - 2] == "" or lines[at - 2].startswith("#"), place
            head, *rows = itertools.takewhile(
                lambda row: row.startswith("|"), lines[at - 1 :]
            )
            for row in rows:
                assert cells(row) == cells(head), f"{document.name}: {row}"


def cells(row: str) -> int:
    """Count the cells of a table's row; a pipe in code or behind a backslash parts none."""
    return re.sub(r"`[^`]*`|\\\|", "", row).count("|")


def test_assistants_find_every_page() -> None:
    docs = REPOSITORY / "docs"
    listed = re.findall(r"\]\(([\w./-]+)\)", (docs / "llms.txt").read_text("utf-8"))
    pages = {page.name for page in docs.glob("*.md")} | {"rules/index.md"}
    assert sorted(listed) == sorted(pages)


def test_the_release_workflow_runs_what_can_be_run_here() -> None:
    workflow = yaml.safe_load(
        (REPOSITORY / ".github" / "workflows" / "release.yml").read_text()
    )
    jobs = workflow["jobs"]
    assert {"run": ".ci/release"} in jobs["build"]["steps"]
    assert jobs["publish"]["needs"] == "build"
    assert jobs["publish"]["permissions"] == {"id-token": "write"}  # and no token


def test_links_and_paths_exist() -> None:
    for document in DOCUMENTS:
        text = document.read_text(encoding="utf-8")
        for target in re.findall(r"\]\((?!http)([\w./-]+)\)", text):
            assert (document.parent / target).exists(), f"{document.name}: {target}"
        for path in re.findall(
            r"`((?:art_adapt|codemods|tests|fixtures|docs)/[\w./]+)`", text
        ):
            assert (REPOSITORY / path).exists(), f"{document.name}: {path}"
        for path in re.findall(r"python (tests/[\w/]+\.py)", text):
            assert Path(REPOSITORY / path).exists(), f"{document.name}: {path}"


def test_every_option_of_the_installed_art_has_a_row() -> None:
    from art_adapt.training.options import (
        CONSTRUCTOR,
        ELSEWHERE,
        TRAINERS,
        internal_options,
        keywords_of,
    )

    names = {*CONSTRUCTOR, *internal_options(), "lora_config", "server_args"}
    for of_backend in TRAINERS.values():
        names |= keywords_of(*of_backend).keys() - ELSEWHERE.keys()
    page = (REPOSITORY / "docs" / "art-options.md").read_text(encoding="utf-8")
    assert not [name for name in sorted(names) if f"`{name}`" not in page]


def test_no_page_says_pip_install_as_if_it_were_published() -> None:
    for page in (REPOSITORY / "docs").glob("*.md"):
        text = page.read_text(encoding="utf-8")
        installs = re.search(r"pip install [^\n`]*art-adapt", text) is not None
        if installs and page.name not in ("command-line.md", "gallery.md"):
            assert "(command-line.md#install)" in text, page.name
    assert "pip install -q ." in README


# Sentences that readers took for a translation, and what was said in their place since.
OLD_SENTENCES = (
    "The hooks are the identity",
    "Does what modules hold belong",
    "no, all may see it",
    "mend that first",
    "would end there, too",
    "Who makes an object starts nothing",
    "in the place of the response's",
    "nobody can import that",
    "a run settles it: art-adapt capture",
)


def test_no_sentence_of_the_old_list_remains() -> None:
    pages = [*DOCUMENTS, *(REPOSITORY / "docs" / "rules").glob("*.md")]
    sources = [*(REPOSITORY / "art_adapt").rglob("*.py")]
    for file in (*pages, *sources, REPOSITORY / "CHANGELOG.md"):
        text = " ".join(file.read_text(encoding="utf-8").split())
        assert not [each for each in OLD_SENTENCES if each in text], file
