"""What is built and installed: one top-level name, each file once, beside whatever names a project has.

Builds with hatchling from PyPI.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path, PurePosixPath

import pytest
from agent_files import REPOSITORY, copy_of, with_authorities

pytestmark = pytest.mark.slow

CODEMODS = {path.name for path in (REPOSITORY / "codemods").glob("*.py")}
FOREIGN = 'raise RuntimeError("the codemods of the user, which are none of ours")\n'


def run(
    *command: str | Path, cwd: Path, python_path: tuple[Path, ...] = ()
) -> subprocess.CompletedProcess[str]:
    environment = with_authorities()
    environment["PYTHONPATH"] = os.pathsep.join(map(str, python_path))
    return subprocess.run(
        [str(part) for part in command],
        cwd=cwd,
        env=environment,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


def pip(*arguments: str | Path, cwd: Path) -> None:
    done = run(sys.executable, "-m", "pip", *arguments, cwd=cwd)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.fixture(scope="module")
def archives(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The sdist, the wheel, and the wheel that the sdist becomes."""
    folder = tmp_path_factory.mktemp("archives")
    hatchling = folder / "hatchling"
    pip("install", "--quiet", "--target", hatchling, "hatchling", cwd=folder)
    build = (sys.executable, "-m", "hatchling", "build", "--directory", folder)
    done = run(*build, cwd=REPOSITORY, python_path=(hatchling,))
    assert done.returncode == 0, done.stdout + done.stderr
    (sdist,) = folder.glob("*.tar.gz")
    again = folder / "again"
    pip("wheel", "--quiet", "--no-deps", "--wheel-dir", again, sdist, cwd=folder)
    (wheel,) = folder.glob("*.whl")
    (rebuilt,) = again.glob("*.whl")
    return {"sdist": sdist, "wheel": wheel, "rebuilt": rebuilt}


@pytest.fixture(scope="module")
def installed(
    archives: dict[str, Path], tmp_path_factory: pytest.TempPathFactory
) -> Path:
    """A folder that the wheel is installed in, and nothing else."""
    target = tmp_path_factory.mktemp("installed")
    pip("install", "--no-deps", "--target", target, archives["wheel"], cwd=target)
    return target


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A fixture agent in a project that has ``codemods`` of its own."""
    folder = copy_of("support_loop", tmp_path)
    (folder / "codemods").mkdir()
    (folder / "codemods" / "__init__.py").write_text(FOREIGN)
    return folder


def names_in(wheel: Path) -> list[str]:
    with zipfile.ZipFile(wheel) as archive:
        return archive.namelist()


@pytest.mark.parametrize("which", ["wheel", "rebuilt"])
def test_the_wheel_adds_one_top_level_name(
    archives: dict[str, Path], which: str
) -> None:
    names = names_in(archives[which])
    tops = {name.split("/")[0] for name in names}
    assert {top for top in tops if not top.endswith(".dist-info")} == {"art_adapt"}
    assert len(names) == len(set(names))
    folders = {part for name in names for part in PurePosixPath(name).parent.parts}
    assert not folders & {"tests", "fixtures", "__pycache__"}


@pytest.mark.parametrize("which", ["wheel", "rebuilt"])
def test_the_wheel_holds_the_codemods_as_files(
    archives: dict[str, Path], which: str
) -> None:
    with zipfile.ZipFile(archives[which]) as archive:
        held = {
            PurePosixPath(name).name: archive.read(name)
            for name in archive.namelist()
            if name.startswith("art_adapt/codemods/")
        }
    assert held == {
        name: (REPOSITORY / "codemods" / name).read_bytes() for name in CODEMODS
    }


def test_the_sdist_becomes_the_same_wheel(archives: dict[str, Path]) -> None:
    assert sorted(names_in(archives["rebuilt"])) == sorted(names_in(archives["wheel"]))
    with tarfile.open(archives["sdist"]) as archive:
        members = archive.getmembers()
    assert all(member.isfile() for member in members)  # no links: Windows unpacks it
    paths = [PurePosixPath(member.name).parts[1:] for member in members]
    assert {path[-1] for path in paths if path[:2] == ("art_adapt", "codemods")} == (
        CODEMODS
    )
    assert not [path for path in paths if path[0] == "codemods"]


def test_installing_adds_one_top_level_name(installed: Path) -> None:
    found = {path.name for path in installed.iterdir() if path.suffix != ".dist-info"}
    assert found - {"bin", "Scripts"} == {"art_adapt"}


@pytest.mark.parametrize("way", ["installed", "editable"])
def test_runs_beside_foreign_codemods(installed: Path, project: Path, way: str) -> None:
    """In a project's folder, with the project itself in front of everything else."""
    ours = installed if way == "installed" else REPOSITORY
    where = "import art_adapt; print(art_adapt.__file__)"
    imported = run(
        sys.executable, "-c", where, cwd=project, python_path=(project, ours)
    )
    assert Path(imported.stdout.strip()) == ours / "art_adapt" / "__init__.py"
    command = (sys.executable, "-m", "art_adapt", "--diff", "agent.py")
    done = run(*command, cwd=project, python_path=(project, ours))
    assert done.returncode == 1, done.stderr
    assert "+        response = recorded(" in done.stdout, done.stdout


def test_the_script_runs_beside_foreign_codemods(
    installed: Path, project: Path
) -> None:
    (script,) = installed.glob("*/art-adapt*")
    command = (sys.executable, script, "--diff", "agent.py")
    done = run(*command, cwd=project, python_path=(project, installed))
    assert done.returncode == 1, done.stderr
    assert "+        response = recorded(" in done.stdout, done.stdout


@pytest.mark.parametrize("way", ["installed", "editable"])
def test_libcst_runs_a_codemod_beside_foreign_ones(
    installed: Path, project: Path, way: str
) -> None:
    name = "art_adapt.codemods.record_calls.RecordCalls"
    command = (
        sys.executable,
        "-m",
        "libcst.tool",
        "codemod",
        "--no-format",
        "-x",
        name,
    )
    ours = installed if way == "installed" else REPOSITORY
    done = run(*command, "agent.py", cwd=project, python_path=(project, ours))
    assert done.returncode == 0, done.stderr
    assert "= recorded(" in (project / "agent.py").read_text()
