"""How a hook is laid out, so that a file that a formatter has laid out stays as the formatter would leave it.

A hook goes around an expression in one of three shapes, and each shape tells how to take it off again:

* hugged: ``final_answer(text)``. Comes off as it went on.
* opened: the hook's parentheses take a line each. ``black`` and ``ruff format`` do so where one line is too short, or
  where the expression itself takes several lines, which then stand one level deeper.
* in place of parentheses: ``return (...)`` over several lines becomes ``return final_answer(...)``.
"""

from __future__ import annotations

from enum import Enum, auto

from art_adapt.source import Source
from art_adapt.survey.model import Span

DEFAULT_LINE_LENGTH = 88


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
    """Whether the file keeps to the line length, but for strings and comments, which formatters do not break."""
    return not any(
        len(line) > line_length and not any(mark in line for mark in "\"'#")
        for line in source.lines
    )


def shape_of(source: Source, span: Span, hook: str, line_length: int | None) -> Shape:
    """The shape in which ``hook`` goes around the expression at ``span``; no line length: the file is not formatted."""
    if line_length is None:
        return Shape.HUGGED
    if span.line != span.end_line:
        text = "\n".join(source.lines[span.line - 1 : span.end_line])
        hugs = '"""' in text or "'''" in text or not _closes_on_own_line(source, span)
        return Shape.FITTING if hugs else Shape.OPENED
    line = source.lines[span.line - 1]
    return (
        Shape.OPENED
        if len(line) + len(hook) + 2 > line_length and _ends_statement(source, span)
        else Shape.FITTING
    )


def _closes_on_own_line(source: Source, span: Span) -> bool:
    """``return Result(`` ... ``)`` as formatters write it: the last line closes the first, and nothing follows."""
    last = source.lines[span.end_line - 1]
    return last.strip() in (")", "]", "}") and _ends_statement(source, span)


def _ends_statement(source: Source, span: Span) -> bool:
    line = source.lines[span.end_line - 1].encode()
    return not line[span.end_column :].strip()


def removal_of(
    source: Source, hook: Span, function_end: int, value: Span, line_length: int
) -> Removal:
    """How to take the hook call at ``hook`` off the expression at ``value``; its name ends at ``function_end``."""
    opening = source.lines[hook.line - 1].encode()
    if opening[function_end:].strip() != b"(":
        return Removal.HUGGED
    if value.line != value.end_line:
        closes = source.lines[value.end_line - 1].strip() in (")", "]", "}")
        return (
            Removal.DEDENT
            if closes and _opens_bracket(source, value)
            else Removal.PARENTHESES
        )
    text = source.lines[value.line - 1].encode()[value.column : value.end_column]
    after = source.lines[hook.end_line - 1].encode()[hook.end_column :]
    joined = (opening[: hook.column] + text + after).decode(errors="replace")
    return Removal.JOIN if len(joined) <= line_length else Removal.PARENTHESES


def _opens_bracket(source: Source, value: Span) -> bool:
    return source.lines[value.line - 1].rstrip().endswith(("(", "[", "{"))


def fits_joined(
    source: Source, callee: Span, bare_callee: Span, call: Span, line_length: int
) -> bool:
    """Whether a call whose arguments take one line of their own fits on one line once its callee is bare again."""
    if call.end_line - callee.end_line != 2 or callee.line != callee.end_line:
        return False
    opening, arguments, closing = source.lines[callee.line - 1 : callee.line + 2]
    if (
        arguments.rstrip().endswith(",")
        or "#" in opening + arguments
        or not opening.endswith("(")
    ):
        return False
    hook = (callee.end_column - callee.column) - (
        bare_callee.end_column - bare_callee.column
    )
    return (
        len(opening) + len(arguments.strip()) + len(closing.strip()) - hook
        <= line_length
    )
