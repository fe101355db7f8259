"""Lists the files below folders, without those that git ignores."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from art_adapt.errors import missing

SKIPPED = frozenset(
    [
        ".git",
        ".hg",
        ".venv",
        "venv",
        ".tox",
        ".nox",
        ".mypy_cache",
        ".ruff_cache",
        ".pytest_cache",
        "__pycache__",
        "node_modules",
        "site-packages",
        "build",
        "dist",
        ".eggs",
        ".art",
        ".ipynb_checkpoints",
    ]
)
OWN_CONFIGURATION = """[core]
	repositoryformatversion = 0
	fsmonitor = false
	untrackedCache = false
"""
VIRTUAL_ENVIRONMENT = "pyvenv.cfg"  # is in each, whatever its folder's name


def files_in(
    paths: Iterable[Path],
    is_wanted: Callable[[str], bool],
    exclude: Iterable[str] = (),
) -> Iterator[Path]:
    """List each file once: every named file, and the wanted ones below named folders.

    ``is_wanted``: decides by the name of a file. ``exclude``: patterns of files or of
    folders above them, as ``Path.match`` takes them.

    Raises:
        Refusal: a path does not exist.
    """
    seen: set[str] = set()
    patterns = tuple(pattern.rstrip("/") for pattern in exclude)
    for path in paths:
        if not path.exists():
            raise missing(path)
        for file in _below(path, is_wanted) if path.is_dir() else (path,):
            real = os.path.realpath(file)
            if real in seen or _is_excluded(file, patterns):
                continue
            seen.add(real)
            yield file


def _below(folder: Path, is_wanted: Callable[[str], bool]) -> Iterator[Path]:
    listed = _from_git(folder)
    for file in walk(folder) if listed is None else listed:
        if file.is_dir():  # a nested repository, which git lists as one entry
            if (file / ".git").exists():  # of its own; an empty submodule has none
                yield from _below(file, is_wanted)
        elif is_wanted(file.name) and file.is_file():
            yield file


def _is_excluded(file: Path, patterns: tuple[str, ...]) -> bool:
    return any(
        path.match(pattern) for pattern in patterns for path in (file, *file.parents)
    )


def checkout_around(folder: Path) -> Path | None:
    """Return the top of the git checkout that a folder, an absolute path, is in."""
    every = (folder, *folder.parents)
    return next((each for each in every if (each / ".git").exists()), None)


def _from_git(folder: Path) -> list[Path] | None:
    """List the files that git tracks or would add; None where git cannot say."""
    here = folder.absolute()
    root = checkout_around(here)
    listed = None if root is None else _listed_by_git(here, root)
    if listed is None:
        return None
    names = sorted(filter(None, listed.decode(errors="surrogateescape").split("\0")))
    files = [Path(name) for name in dict.fromkeys(names)]
    # A virtual environment is left out even if git does not ignore it.
    return [folder / file for file in files if SKIPPED.isdisjoint(file.parts)] or None


def _listed_by_git(folder: Path, root: Path) -> bytes | None:
    """Return what ``git ls-files`` prints for a folder of the repository in ``root``.

    A repository's configuration names commands that git runs (core.fsmonitor, hooks,
    transports), and a folder that was cloned may pretend to be a repository. So git never
    sees the repository: it looks for files from an empty one, whose configuration is
    ours, and is given the real index and exclude file.
    """
    import subprocess
    import tempfile

    real = _git_folder(root)
    exclude = real / "info" / "exclude"
    with tempfile.TemporaryDirectory(prefix="art-adapt-") as name:
        empty = Path(name)
        (empty / "objects").mkdir()
        (empty / "refs").mkdir()
        (empty / "HEAD").write_text("ref: refs/heads/none\n")
        (empty / "config").write_text(OWN_CONFIGURATION)
        command = [
            "git",
            f"--git-dir={empty}",
            f"--work-tree={root}",
            "-C",
            f"{folder}",
        ]
        command += ["ls-files", "-z", "--cached", "--others", "--exclude-standard"]
        command += [f"--exclude-from={exclude}"] if exclude.is_file() else []
        # An index that needs more of its repository is not readable from elsewhere.
        for index in (real / "index", empty / "index"):
            with contextlib.suppress(OSError, subprocess.CalledProcessError):
                return subprocess.run(
                    command,
                    capture_output=True,
                    check=True,
                    env={**os.environ, "GIT_INDEX_FILE": str(index)},
                    cwd=empty,  # where no "." in PATH leads to a git of the repository
                ).stdout
    return None


def _git_folder(root: Path) -> Path:
    """Return where a repository's index lies: elsewhere for a worktree or a submodule."""
    git = root / ".git"
    if git.is_file():
        with contextlib.suppress(OSError, UnicodeError):
            kind, _, where = git.read_text().partition(":")
            if kind == "gitdir":
                return root / where.strip()
    return git


def walk(folder: Path) -> Iterator[Path]:
    """Yield the files below a folder, ignored ones too, but none that is installed."""
    folders, files = [], []
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    if entry.name not in SKIPPED:
                        folders.append(entry.name)
                else:
                    files.append(entry.name)
    except OSError:
        return
    if VIRTUAL_ENVIRONMENT in files:
        return
    for name in sorted(files):
        yield folder / name
    for name in sorted(folders):
        yield from walk(folder / name)
