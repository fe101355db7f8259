"""How long art-adapt takes, as a ratio to a floor measured in the same run. Not a test: machines differ, ratios do not.

    python tests/benchmarks/startup.py [FILE]

--version      against `python -c pass`                            goal: under 4
--help         against the --help of an empty typer app            goal: under 1.5
one file       against libcst's import, parse and codegen of it    goal: under 2.5
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

REPOSITORY = Path(__file__).parents[2]
AGENT = REPOSITORY / "fixtures" / "agents" / "support_loop" / "agent.py"
ROUNDS = 15
EMPTY_APP = "import typer\napp = typer.Typer()\n@app.command()\ndef main(name: str) -> None: ...\napp()\n"
LIBCST = "import sys, libcst\ndata = open(sys.argv[1], 'rb').read()\nassert libcst.parse_module(data).bytes == data\n"


def seconds(command: list[str]) -> float:
    begun = time.perf_counter()
    subprocess.run(command, capture_output=True, check=False)
    return time.perf_counter() - begun


def compare(name: str, command: list[str], floor: list[str], goal: float) -> None:
    """Time both in turn, so that whatever else the machine does meets both."""
    pairs = [(seconds(command), seconds(floor)) for _ in range(ROUNDS)]
    ours, theirs = (statistics.median(times) for times in zip(*pairs, strict=True))
    ratio = statistics.median(a / b for a, b in pairs)
    print(
        f"{name:12} {ours * 1000:7.0f} ms  floor {theirs * 1000:7.0f} ms  ratio {ratio:5.2f}  goal {goal}"
    )


def main() -> None:
    # Installed packages have their bytecode: so must what is measured.
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    file = sys.argv[1] if len(sys.argv) > 1 else str(AGENT)
    art_adapt = [str(Path(sys.executable).with_name("art-adapt"))]
    with tempfile.TemporaryDirectory() as temporary:
        app, parse = Path(temporary, "app.py"), Path(temporary, "parse.py")
        app.write_text(EMPTY_APP)
        parse.write_text(LIBCST)
        compare(
            "--version", [*art_adapt, "--version"], [sys.executable, "-c", "pass"], 4
        )
        compare(
            "--help", [*art_adapt, "--help"], [sys.executable, str(app), "--help"], 1.5
        )
        diff = [*art_adapt, "--isolated", "--no-train-module", "--diff", file]
        compare("one file", diff, [sys.executable, str(parse), file], 2.5)


if __name__ == "__main__":
    main()
