"""What the documents say is so: the README's diff, its commands, the files that they name."""

from __future__ import annotations

import difflib
import re
from pathlib import Path

from agent_files import AGENTS, REPOSITORY

README = (REPOSITORY / "README.md").read_text(encoding="utf-8")
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
