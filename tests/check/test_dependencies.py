"""Check that missing pins are found where the dependencies are declared."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from agent_files import REPOSITORY, art_adapt

UNPINNED = '[project]\nname = "x"\nrequires-python = "{python}"\ndependencies = [\n  "openpipe-art",\n]\n'


def check(folder: Path, *options: str) -> tuple[int, str]:
    done = art_adapt("check", ".", "--output-format", "concise", *options, cwd=folder)
    return done.returncode, done.stdout.decode()


def test_a_project_without_pins(tmp_path: Path) -> None:
    project = tmp_path / "pyproject.toml"
    project.write_text(UNPINNED.format(python=">=3.11"))
    code, output = check(tmp_path)
    assert code == 1
    assert (
        "pyproject.toml:5:4: ART520 on Python 3.11 this installs ART 0.5.18" in output
    )
    assert "add openai<3, polars<2" in output

    project.write_text(UNPINNED.format(python=">=3.12"))
    assert check(tmp_path)[0] == 0, "pip installs ART 0.5.23 there"


@pytest.mark.parametrize(
    ("lines", "missing"),
    [
        ("openpipe-art==0.5.18", "openai<3, polars<2"),
        ("openpipe-art<0.5.20; python_version > '3'", "openai<3, polars<2"),
        ("openpipe-art", None),  # ART 0.5.23 on Python 3.12
        ("openpipe-art==0.5.18\nopenai===2.14-custom", None),
        ("openpipe-art==0.5.18\nfoo; os_name ~= 'posix'\nopenai<3\npolars<2", None),
        ("openpipe-art==0.5.18\nfoo; 'a' in extras", "openai<3, polars<2"),
        ("openpipe-art==0.5.18\nopenai==2.8.1", "add polars<2"),
        ("OpenPipe_ART[backend]>=0.5 # gpu\nopenai<3\npolars~=1.30", None),
        ("openpipe-art==0.5.18\n-c constraints.txt", None),
        (
            "openpipe-art==0.5.18 \\\n  --hash=sha256:00\nopenai==3.1\npolars<2",
            "add openai<3",
        ),
        ("openpipe-art==0.5.11", None),
        ("openpipe-art @ git+ssh://git@example.org/art", None),
        ("openpipe-art; python_version >= '3.12'", None),
        ("openpipe-art==0.5.18  # art: ignore[ART520]", None),
        ("openpipe-art ===!", None),
    ],
)
def test_requirements(lines: str, missing: str | None, tmp_path: Path) -> None:
    (tmp_path / "requirements-gpu.txt").write_text(f"rich\n{lines}\n")
    code, output = check(tmp_path)
    assert (code, "ART520" in output) == ((1, True) if missing else (0, False)), output
    assert (missing or "") in output


def test_a_lock_file_pins(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "pyproject.toml").write_text(UNPINNED.format(python=">=3.11"))
    assert check(tmp_path)[0] == 1
    (tmp_path / "uv.lock").touch()
    assert check(tmp_path)[0] == 0


def test_extras_and_groups_pin_too(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text(
        UNPINNED.format(python=">=3.11")
        + '[dependency-groups]\ndev = ["openai<3", {include-group = "x"}]\n'
        + '[tool.uv]\nconstraint-dependencies = ["polars<2"]\n'
    )
    assert check(tmp_path)[0] == 0


@pytest.mark.parametrize(
    "content",
    [
        "project = 'openpipe-art'",
        "[project]\ndependencies = 'openpipe-art'",
        "\xff openpipe-art",
    ],
)
def test_odd_files_are_no_obstacle(content: str, tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text(content, encoding="latin-1")
    assert check(tmp_path)[0] in (0, 2)


def test_what_art_adapt_itself_declares_is_pinned(tmp_path: Path) -> None:
    shutil.copy(REPOSITORY / "pyproject.toml", tmp_path)
    assert check(tmp_path)[0] == 0


def test_what_cannot_be_read_is_never_clean(tmp_path: Path) -> None:
    project = tmp_path / "sub" / "pyproject.toml"  # not the one with the settings
    project.parent.mkdir()
    project.write_text("[project\n# openpipe-art\n")
    code, output = check(tmp_path)
    assert code == 1 and "pyproject.toml:1:1: ART000 not valid TOML" in output
    project.unlink()
    (tmp_path / "requirements.txt").write_bytes(b"openpipe-art # \xff\n")
    code, output = check(tmp_path)
    assert code == 1 and "ART000" in output


def test_an_ignore_comment_stands_where_it_is_found(tmp_path: Path) -> None:
    text = UNPINNED.format(python="==3.11.4").replace('"x"', '"openpipe-art-example"')
    project = tmp_path / "pyproject.toml"
    project.write_text(text)
    assert "pyproject.toml:5:4: ART520" in check(tmp_path)[1]
    project.write_text(text.replace('-art",', '-art",  # art: ignore[ART520]'))
    assert check(tmp_path)[0] == 0


@pytest.mark.parametrize(
    "table",
    [
        "[tool.uv.sources]\nopenpipe-art = { git = 'https://example.org/art' }",
        "[tool.uv]\nexclude-newer = '2026-01-01T00:00:00Z'",
    ],
)
def test_what_uv_takes_from_elsewhere_is_not_known(table: str, tmp_path: Path) -> None:
    text = UNPINNED.format(python=">=3.11")
    (tmp_path / "pyproject.toml").write_text(f"{text}{table}\n")
    assert check(tmp_path)[0] == 0
