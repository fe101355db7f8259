"""Read notebooks as Python: their code cells one after the other, line for line."""

from __future__ import annotations

import bisect
import json
import re
from dataclasses import dataclass
from pathlib import Path

from art_adapt.errors import Refusal
from art_adapt.source import Source

ABOUT_ART = re.compile(rb"\bart\b|art_recording|messages_and_choices")
MAGIC = re.compile(r"^(\s*)(?:%%?[A-Za-z]|![^=])")  # not an operator that starts a line
PYTHON_CELL = re.compile(r"%%(?:capture|time|timeit|prun|memit)\b")


@dataclass(frozen=True)
class Notebook:
    """The code cells of a notebook."""

    code: bytes
    starts: tuple[int, ...]  # the first line of each, from 1
    numbers: tuple[int, ...]  # the number of each among cells of any kind, from 1

    def place(self, line: int) -> tuple[int, int]:
        """Return the number of the cell that contains a line, and the line in it."""
        at = max(bisect.bisect_right(self.starts, line) - 1, 0)
        if not self.starts:
            return 1, line
        return self.numbers[at], line - self.starts[at] + 1


def read_notebook(path: Path) -> Notebook | None:
    """Read the code of a notebook; return None if it does not mention ART.

    Lines that are not Python (``%pip``, ``!ls``, cells that begin with ``%%``) are
    replaced by ``pass`` or comments.

    Raises:
        Refusal: the file cannot be read or is not a notebook.
    """
    try:
        data = path.read_bytes()
        if not ABOUT_ART.search(data):
            return None
        content = json.loads(data)
        cells = content["cells"]
        sources = [
            (number, "".join(cell["source"]))
            for number, cell in enumerate(cells, 1)
            if cell["cell_type"] == "code"
        ]
    except OSError as error:
        raise Refusal(
            f"cannot read this file: {error.strerror or error}", path=path
        ) from error
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise Refusal("not a valid notebook", why=str(error), path=path) from error
    except RecursionError as error:
        raise Refusal("not a valid notebook: nested too deeply", path=path) from error
    lines: list[str] = []
    starts = []
    for _, text in sources:
        starts.append(len(lines) + 1)
        lines += _python(text)
    code = "\n".join(lines).encode("utf-8", "surrogatepass") + b"\n"
    return Notebook(code, tuple(starts), tuple(number for number, _ in sources))


def as_python(source: Source) -> Source | None:
    """Read an exported notebook: a ``.py`` file with lines of IPython (``!pip``, ``%cd``).

    Return its Python, line for line, or None if there is no such line or it still cannot be
    read.
    """
    try:
        lines = source.text.splitlines(keepends=True)
        if not any(map(MAGIC.match, lines)):
            return None
        text = "\n".join(_python("".join(lines)))
        exported = Source(source.path, text.encode(source.encoding))
        exported.tree  # noqa: B018 - raises if it cannot be read
    except (Refusal, UnicodeEncodeError):
        return None
    return exported


def _python(text: str) -> list[str]:
    lines = text.replace("\r\n", "\n").split("\n")
    said = (line for line in lines if line.strip() and not line.startswith("#"))
    first = next(said, "")
    if first.startswith("%%") and not PYTHON_CELL.match(first):
        return [f"# {line}" for line in lines]
    python, goes_on = [], False
    for line in lines:
        magic = MAGIC.match(line)
        if goes_on:
            python.append(f"# {line}")
        elif magic:
            python.append(f"{magic[1]}pass  # {line.strip()}")
        else:
            python.append(line)
        goes_on = (goes_on or magic is not None) and line.endswith("\\")
    return python
