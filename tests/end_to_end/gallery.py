"""Write docs/gallery.md: fixture agents before and after, and how each rehearses.

``python tests/end_to_end/gallery.py``; everything on the page is run, nothing is kept.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from agent_files import REPOSITORY, agent_file, copy_of

PAGE = REPOSITORY / "docs" / "gallery.md"
SHOWN = {
    "support_loop": "A tool loop in one function",
    "class_agent": "A class with its client, history and loop",
    "async_research": "Async, with tools that run side by side",
    "streaming": "Streamed answers",
    "package_agent": "A package: the call in one file, the loop in another",
    "responses_tools": "The Responses API",
    "threaded": "Tools and sub-agents in threads",
}


def art_adapt(arguments: Sequence[str | Path], folder: Path) -> str:
    """Return what the command prints on standard output."""
    command = [sys.executable, "-m", "art_adapt", *map(str, arguments)]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True).stdout


def entry(name: str, title: str, folder: Path) -> str:
    """Return an agent's part of the page."""
    agent = agent_file(copy_of(name, folder)).relative_to(folder / name)
    home = folder / name
    review = art_adapt(["--isolated", "--diff", "--format", "markdown", agent], home)
    changes = review.partition("### Found")[2].partition("### Generated")[0]
    changes = re.sub(r"^.*?(?=^### )", "", changes, flags=re.DOTALL | re.MULTILINE)
    art_adapt(["--isolated", "--yes", agent], home)
    module = agent.with_name("agent_train.py")
    rehearsed, _, _ = art_adapt(["rehearse", module], home).partition("\nOn a machine")
    rehearsed = rehearsed.replace(f"{home.resolve()}/", "")  # as of no machine
    return (
        f"## {title}\n\n`fixtures/agents/{name}`\n\n{changes.strip()}\n\n"
        f"```\n$ art-adapt rehearse {module}\n{rehearsed.strip()}\n```\n"
    )


def main() -> None:
    parts = [
        "# Gallery\n\nWhat changes in agents of several shapes, and what a rehearsal of each says. "
        "Written by `python tests/end_to_end/gallery.py`, which runs all of it.\n"
    ]
    for name, title in SHOWN.items():
        with tempfile.TemporaryDirectory() as folder:
            parts.append(entry(name, title, Path(folder)))
    PAGE.write_text("\n".join(parts), encoding="utf-8")


if __name__ == "__main__":
    main()
