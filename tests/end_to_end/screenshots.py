"""Take the pictures of a review and of a rehearsal that the README shows.

``python tests/end_to_end/screenshots.py`` adapts and rehearses a fixture, and opens both pages in
``chromium`` (a package of Debian and others), without a screen. Nothing is touched up.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from agent_files import REPOSITORY, copy_of

PICTURES = REPOSITORY / "docs" / "images"
SIZE = "1100,860"
# More tool calls, more reward: enough to tell a best episode from a worst.
REWARD = """\
def score(trajectory, scenario):
    calls = str(trajectory.messages()).count("'tool_calls': [{")
    return min(calls, 4) / 4
"""


def art_adapt(*arguments: str, home: Path) -> str:
    """Return what the command prints on standard output."""
    command = [sys.executable, "-m", "art_adapt", *arguments]
    return subprocess.run(command, cwd=home, capture_output=True, text=True).stdout


def take(page: Path, picture: Path, profile: Path) -> None:
    """Open a page in a new browser that asks nothing of a network."""
    options = ["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run"]
    options += ["--disable-background-networking", "--disable-component-update"]
    options += ["--disable-sync", "--hide-scrollbars", f"--user-data-dir={profile}"]
    options += [f"--window-size={SIZE}", f"--screenshot={picture}"]
    subprocess.run(
        ["chromium", *options, page.as_uri()], check=True, capture_output=True
    )


def main() -> None:
    PICTURES.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        home = copy_of("support_loop", Path(folder))
        options = ["--isolated", "--reward", "rewards:score"]
        (home / "rewards.py").write_text(REWARD)
        review, rehearsal = home / "review.html", home / "rehearsal.html"
        review.write_text(
            art_adapt(*options, "--diff", "--format", "html", "agent.py", home=home)
        )
        art_adapt(*options, "--yes", "agent.py", home=home)
        art_adapt("rehearse", "agent_train.py", "--html", rehearsal.name, home=home)
        for page in (review, rehearsal):
            take(page, PICTURES / f"{page.stem}.png", Path(folder) / "profile")


if __name__ == "__main__":
    main()
