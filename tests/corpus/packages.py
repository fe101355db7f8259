"""Adapts and restores, in memory, every file of well-known packages that calls the OpenAI client.

    python tests/corpus/packages.py [--into DIR] [--list]

Downloads the packages of packages.txt with pip (sources only, nothing is installed or run) and checks for each file that mentions
chat completions: no crash; the result compiles; the hooks come off byte for byte (G1); adapting again changes nothing
(G2); every completion call that was found is recorded. Prints what was refused, and why.
"""

from __future__ import annotations

import argparse
import collections
import re
import subprocess
import sys
import tarfile
import time
import zipfile
from pathlib import Path

from art_adapt.adaptation import remove
from art_adapt.errors import Refusal
from art_adapt.plan import make_plan
from art_adapt.settings import Options
from art_adapt.source import Source

PACKAGES = Path(__file__).with_name("packages.txt").read_text().split()
MENTIONS = re.compile(rb"chat[._]completion|ChatCompletion")
RECORD_ONLY = Options(train_module=False)


def download(package: str, into: Path) -> Path | None:
    """The archive of a pinned release; None if pip does not find it."""
    folder = into / package
    if not folder.exists():
        command = [
            sys.executable,
            "-m",
            "pip",
            "download",
            "-q",
            "--no-deps",
            "--ignore-requires-python",
            "-d",
            str(folder),
            package,
        ]
        subprocess.run(command, capture_output=True, timeout=300, check=False)
    archives = list(folder.iterdir()) if folder.exists() else []
    return archives[0] if archives else None


def python_files(archive: Path) -> list[tuple[str, bytes]]:
    if archive.suffix in (".whl", ".zip"):
        with zipfile.ZipFile(archive) as zipped:
            return [
                (name, zipped.read(name))
                for name in zipped.namelist()
                if name.endswith(".py")
            ]
    with tarfile.open(archive) as tarred:
        members = [m for m in tarred if m.isfile() and m.name.endswith(".py")]
        return [
            (m.name, file.read())
            for m in members
            if (file := tarred.extractfile(m)) is not None
        ]


def check(path: Path, data: bytes) -> tuple[str, int]:
    """ "adapted", "refused: ..." or "WRONG: ...", and the number of hooks around calls."""
    source = Source(path, data)
    try:
        plan = make_plan([source], RECORD_ONLY)
    except Refusal as refusal:
        return f"refused: {refusal.what}", 0
    after = next(edit.after for edit in plan.edits if edit.path == path)
    compile(after, str(path), "exec", dont_inherit=True)
    if remove(Source(path, after), 88) != data:
        return "WRONG: does not come off", 0
    again = make_plan([Source(path, after)], RECORD_ONLY)
    if next(edit.after for edit in again.edits if edit.path == path) != after:
        return "WRONG: not idempotent", 0
    left = [
        call
        for call in again.survey.calls
        if call.role == "policy" and not call.recorded
    ]
    return (
        "adapted" if not left else f"WRONG: {len(left)} calls are not recorded"
    ), len(plan.decisions.policy)


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--into", type=Path, default=Path("/tmp/art-adapt-packages"))
    parser.add_argument("--list", action="store_true", help="a line for every file")
    options = parser.parse_args()
    outcomes: collections.Counter[str] = collections.Counter()
    calls = files = 0
    begun = time.monotonic()
    for package in PACKAGES:
        archive = download(package, options.into)
        if archive is None:
            print(f"not found: {package}")
            continue
        for name, data in python_files(archive):
            if not MENTIONS.search(data):
                continue
            files += 1
            try:
                outcome, hooked = check(Path("/packages", package, name), data)
            except Exception as error:
                outcome, hooked = f"WRONG: crashed: {type(error).__name__}: {error}", 0
            calls += hooked
            outcomes[outcome] += 1
            if options.list or outcome.startswith("WRONG"):
                print(f"{outcome:40.200} {package} {name}", flush=True)
    print(
        f"\n{files} files that mention chat completions, {calls} calls recorded, {time.monotonic() - begun:.0f} s"
    )
    for outcome, count in outcomes.most_common():
        print(f"{count:6}  {outcome}")
    return 1 if any(outcome.startswith("WRONG") for outcome in outcomes) else 0


if __name__ == "__main__":
    sys.exit(main())
