"""Says where a report may be written: over no source, and over nothing but a report."""

from __future__ import annotations

from pathlib import Path

from art_adapt.errors import Refusal

SOURCES = frozenset(
    {".py", ".pyi", ".pyw", ".ipynb", ".toml", ".cfg", ".jsonl", ".csv"}
)
REPORTS = frozenset(
    {".html", ".htm", ".png", ".json", ".sarif", ".xml", ".txt", ".log"}
)


def check_report(path: Path) -> None:
    """Refuse to write a report over anything that may be no report.

    Raises:
        Refusal: the name is that of a source, or of a file that is there and no report.
    """
    suffix = path.suffix.lower()
    if suffix in SOURCES or (path.is_file() and not _may_be_report(path)):
        raise Refusal(
            f"a report would overwrite {path.name}"
            if path.exists()
            else f"a report cannot be written to a {path.suffix} file",
            next_step="name another file for the report, such as report.html or report.json",
            path=path,
        )


def _may_be_report(path: Path) -> bool:
    if path.suffix:
        return path.suffix.lower() in REPORTS
    try:
        with path.open("rb") as file:
            return not path.name.startswith(".") and file.read(2) != b"#!"
    except OSError:  # whoever writes it says why it cannot
        return True
