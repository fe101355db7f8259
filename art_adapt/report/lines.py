"""Writes lines of a report: coloured and broken at words in a terminal, plain elsewhere."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TextIO

from art_adapt.printable import printable
from art_adapt.terminal import broken, has_colours, width


@dataclass(frozen=True)
class Line:
    """A line of the report: a label, the text, and a detail about it.

    ``is_command``: it is there to be copied, so nothing breaks it.
    """

    label: str = ""
    text: str = ""
    detail: str = ""
    heading: bool = False
    is_command: bool = False


def write(lines: list[Line], stream: TextIO) -> None:
    """Write ``lines``, coloured and broken at words where ``stream`` is a terminal."""
    if has_colours(stream):
        from rich.console import Console
        from rich.text import Text

        console = Console(
            file=stream, highlight=False, emoji=False, markup=False, soft_wrap=True
        )
        for label, text, detail, heading in _rows(lines, width(stream)):
            body = (text, "bold" if heading else "")
            console.print(Text.assemble((label, "cyan"), body, (detail, "dim")))
    else:
        for label, text, detail, _ in _rows(lines, width(stream)):
            stream.write(f"{label}{text}{detail}".rstrip() + "\n")


def _rows(
    lines: Iterable[Line], columns: int | None
) -> Iterator[tuple[str, str, str, bool]]:
    """Yield the label, text and detail of each row, and whether it is a heading."""
    for line in lines:
        empty = line.heading or line == Line()
        label = "" if empty else f"  {line.label:<11} "
        text, detail = printable(line.text), printable(line.detail)
        texts, details = [text], [f"  {detail}" if detail else ""]
        if columns is not None and not line.is_command:
            leading = len(text) - len(text.lstrip())
            texts = broken(text, columns - len(label), leading)
            if len(label + texts[-1] + details[0]) > columns:
                details = ["", *broken(detail, columns - len(label))]
        # The details begin behind the last row of the text.
        details = [*[""] * (len(texts) - 1), *details]
        texts += [""] * (len(details) - len(texts))
        for row in zip(texts, details, strict=True):
            yield label, *row, line.heading
            label = " " * len(label)  # of the rows that go on
