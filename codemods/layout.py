"""How a hook is laid out, so that a file that a formatter has laid out stays as the
formatter would leave it.

A hook goes around an expression in one of three shapes, and each shape tells how to
take it off again:

* hugged: ``final_answer(text)``. Comes off as it went on.
* opened: the hook's parentheses take a line each. ``black`` and ``ruff format`` do so where one line is too short, or
  where the expression itself takes several lines, which then stand one level deeper.
* in place of parentheses: ``return (...)`` over several lines becomes ``return final_answer(...)``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import Enum, auto

from art_adapt.source import Source
from art_adapt.survey.model import Span


class Shape(Enum):
    HUGGED = auto()  # nothing else, whatever the expression looks like
    FITTING = auto()  # in place of parentheses over several lines, otherwise hugged
    OPENED = auto()


class Removal(Enum):
    """How to take off a hook that was opened."""

    HUGGED = auto()
    JOIN = auto()  # the expression fits on the line of its statement again
    DEDENT = auto()  # the expression takes several lines of its own
    PARENTHESES = auto()  # it had parentheses instead


def looks_formatted(source: Source, line_length: int) -> bool:
    """Whether the file keeps to the line length, but for strings and comments, which
    formatters do not break.
    """
    return not any(
        len(line) > line_length and not any(mark in line for mark in "\"'#")
        for line in source.lines
    )


@dataclass(frozen=True)
class Wrap:
    """``hook`` (its local name) goes around the expression at ``span``; of two at one
    span the later goes outside.

    ``around``: the call on whose line the expression stands, which is opened where the
    line gets too long.
    """

    span: Span
    hook: str
    around: Span | None = None

    @property
    def width(self) -> int:
        return len(self.hook) + 2


@dataclass
class Layout:
    """A shape for every wrap, and the calls whose arguments move to a line of their
    own.
    """

    shapes: dict[Wrap, Shape] = field(default_factory=dict)
    opened: set[Span] = field(default_factory=set)


def lay_out(source: Source, wraps: Sequence[Wrap], line_length: int | None) -> Layout:
    """Lay the hooks out as a formatter would; without a line length, in the plainest
    way.
    """
    layout = Layout()
    by_line: dict[int, list[Wrap]] = {}
    for wrap in wraps:
        layout.shapes[wrap] = Shape.HUGGED if line_length is None else Shape.FITTING
        if wrap.span.line == wrap.span.end_line:
            by_line.setdefault(wrap.span.line, []).append(wrap)
        elif line_length is not None and _formatters_open(source, wrap):
            layout.shapes[wrap] = Shape.OPENED
    for line, on_line in by_line.items():
        if line_length is not None:
            _lay_out_line(source.lines[line - 1], source, on_line, line_length, layout)
    return layout


def _lay_out_line(
    line: str, source: Source, wraps: list[Wrap], line_length: int, layout: Layout
) -> None:
    """Open from the outside in until what remains fits."""
    width = len(line) + sum(wrap.width for wrap in wraps)
    indent = len(line) - len(line.lstrip())
    for wrap in sorted(wraps, key=lambda w: (w.span.column, -w.span.end_column)):
        if width <= line_length:
            return
        if wrap.around is None and _ends_statement(source, wrap.span):
            layout.shapes[wrap] = Shape.OPENED
            width -= wrap.width + (wrap.span.column - indent) - 4
        elif wrap.around is not None and wrap.around.line == wrap.around.end_line:
            layout.opened.add(wrap.around)
            return


def _formatters_open(source: Source, wrap: Wrap) -> bool:
    """An expression over several lines, with brackets that formatters would not hug."""
    lines = source.lines[wrap.span.line - 1 : wrap.span.end_line]
    has_long_string = any(quotes in line for line in lines for quotes in ('"""', "'''"))
    return not has_long_string and _closes_on_own_line(source, wrap.span)


def _closes_on_own_line(source: Source, span: Span) -> bool:
    """``return Result(`` ... ``)`` as formatters write it: the last line closes the
    first, and nothing follows.
    """
    last = source.lines[span.end_line - 1]
    return last.strip() in (")", "]", "}") and _ends_statement(source, span)


def _ends_statement(source: Source, span: Span) -> bool:
    line = source.lines[span.end_line - 1].encode()
    return not line[span.end_column :].strip()


def removal_of(
    source: Source, hook: Span, name_end: int, value: Span, inner: int, line_length: int
) -> Removal:
    """How to take the hook call at ``hook`` off the expression at ``value``.

    ``name_end``: the column at which the hook's name ends. ``inner``: the width of the
    hooks inside ``value``.
    """
    opening = source.lines[hook.line - 1].encode()
    if opening[name_end:].strip() != b"(":
        return Removal.HUGGED
    if value.line != value.end_line:
        closes = source.lines[value.end_line - 1].strip() in (")", "]", "}")
        opens = source.lines[value.line - 1].rstrip().endswith(("(", "[", "{"))
        return Removal.DEDENT if closes and opens else Removal.PARENTHESES
    text = source.lines[value.line - 1].encode()[value.column : value.end_column]
    after = source.lines[hook.end_line - 1].encode()[hook.end_column :]
    joined = (opening[: hook.column] + text + after).decode(errors="replace")
    fits = len(joined) - inner <= line_length
    return Removal.JOIN if fits else Removal.PARENTHESES


def fits_joined(source: Source, call: Span, hooks: int, line_length: int) -> bool:
    """Whether a call whose arguments take one line of their own fits on one line
    without its hooks' width.
    """
    if call.end_line - call.line != 2:
        return False
    opening, arguments, closing = source.lines[call.line - 1 : call.end_line]
    if (
        arguments.endswith(",")
        or "#" in opening + arguments
        or not opening.endswith("(")
    ):
        return False
    joined = len(opening) + len(arguments.strip()) + len(closing.strip())
    return joined - hooks <= line_length
