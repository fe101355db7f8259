"""Lay out hooks as a formatter would, in shapes that can be taken off again.

There are three shapes:

* hugged: ``final_answer(text)``. Comes off as it went on.
* opened: each of the hook's parentheses takes a line. ``black`` and ``ruff format`` do so where one line is too short,
  or where the expression itself takes several lines, which then stand one level deeper.
* in place of parentheses: ``return (...)`` over several lines becomes ``return final_answer(...)``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import Enum, auto

from art_adapt.span import Span


class Shape(Enum):
    HUGGED = auto()  # whatever the expression looks like
    FITTING = auto()  # in place of parentheses over several lines, otherwise hugged
    OPENED = auto()


class Removal(Enum):
    """How to take a hook off."""

    HUGGED = auto()  # drop its name and its parentheses
    JOIN = auto()  # move the expression back to the line of its statement
    DEDENT = auto()  # move the expression's own lines one level back
    PARENTHESES = auto()  # drop only its name


def looks_formatted(lines: Sequence[str], line_length: int) -> bool:
    """True if the file keeps to the line length.

    Longer lines with strings or comments do not count: formatters do not break those.
    """
    return not any(
        len(line) > line_length and not any(mark in line for mark in "\"'#")
        for line in lines
    )


@dataclass(frozen=True)
class Wrap:
    """A hook, by its local name, to put around the expression at ``span``.

    Of two hooks at one span, the later goes outside. ``around`` is the call on whose
    line the expression stands; it is opened if the line gets too long.
    """

    span: Span
    hook: str
    around: Span | None = None

    @property
    def width(self) -> int:
        return len(self.hook) + 2


@dataclass
class Layout:
    """The shape of every hook, and the calls whose arguments move to their own line."""

    shapes: dict[Wrap, Shape] = field(default_factory=dict)
    opened: set[Span] = field(default_factory=set)


def lay_out(
    lines: Sequence[str], wraps: Sequence[Wrap], line_length: int, *, hug: bool
) -> Layout:
    """Lay the hooks out as a formatter would; ``hug``: without regard to line lengths.

    Either way, a call that its author broke and that would look as if hooks had broken it
    gets one in lines of its own, which tells the two apart.
    """
    layout = Layout()
    by_line: dict[int, list[Wrap]] = {}
    for wrap in wraps:
        layout.shapes[wrap] = Shape.HUGGED if hug else Shape.FITTING
        if wrap.span.line == wrap.span.end_line:
            by_line.setdefault(wrap.span.line, []).append(wrap)
        elif not hug and _formatters_open(lines, wrap):
            layout.shapes[wrap] = Shape.OPENED
    for line, on_line in by_line.items():
        if not hug:
            _lay_out_line(lines, line, on_line, line_length, layout)
        _tell_apart(lines, on_line, wraps, line_length, layout)
    return layout


def _tell_apart(
    lines: Sequence[str],
    on_line: Sequence[Wrap],
    wraps: Sequence[Wrap],
    line_length: int,
    layout: Layout,
) -> None:
    """Open the first hook of a line, if its author's call looks as if hooks had broken it."""
    for wrap in on_line:
        if wrap.around is None or wrap.around in layout.opened:
            continue
        width = sum(each.width for each in wraps if each.around == wrap.around)
        if _looks_broken_by_hooks(lines, wrap.around, width, line_length):
            layout.shapes[wrap] = Shape.OPENED
        return


def _lay_out_line(
    lines: Sequence[str],
    number: int,
    wraps: list[Wrap],
    line_length: int,
    layout: Layout,
) -> None:
    """Open the hooks of one line, from the outside in, until the rest fits."""
    line = lines[number - 1]
    width = len(line) + sum(wrap.width for wrap in wraps)
    indent = len(line) - len(line.lstrip())
    for wrap in sorted(wraps, key=lambda w: (w.span.column, -w.span.end_column)):
        if width <= line_length:
            return
        if wrap.around is None and _ends_statement(lines, wrap.span):
            layout.shapes[wrap] = Shape.OPENED
            width -= wrap.width + (wrap.span.column - indent) - 4
        elif wrap.around is not None and wrap.around.line == wrap.around.end_line:
            layout.opened.add(wrap.around)
            return


def _formatters_open(lines: Sequence[str], wrap: Wrap) -> bool:
    """True if formatters would give the brackets of a long expression their own lines."""
    own = lines[wrap.span.line - 1 : wrap.span.end_line]
    has_long_string = any(quotes in line for line in own for quotes in ('"""', "'''"))
    return not has_long_string and _closes_on_own_line(lines, wrap.span)


def _closes_on_own_line(lines: Sequence[str], span: Span) -> bool:
    """True if the expression's last line holds one closing bracket and nothing else."""
    last = lines[span.end_line - 1]
    return last.strip() in (")", "]", "}") and _ends_statement(lines, span)


def _ends_statement(lines: Sequence[str], span: Span) -> bool:
    line = lines[span.end_line - 1].encode()
    return not line[span.end_column :].strip()


def removal_of(
    lines: Sequence[str],
    hook: Span,
    name_end: int,
    value: Span,
    inner: int,
    line_length: int,
) -> Removal:
    """Choose how to take the hook call at ``hook`` off the expression at ``value``.

    ``name_end`` is the column at which the hook's name ends, ``inner`` the width of the
    hooks inside ``value``.
    """
    opening = lines[hook.line - 1].encode()
    if opening[name_end:].strip() != b"(":
        return Removal.HUGGED
    if value.line != value.end_line:
        closes = lines[value.end_line - 1].strip() in (")", "]", "}")
        opens = lines[value.line - 1].rstrip().endswith(("(", "[", "{"))
        return Removal.DEDENT if closes and opens else Removal.PARENTHESES
    text = lines[value.line - 1].encode()[value.column : value.end_column]
    after = lines[hook.end_line - 1].encode()[hook.end_column :]
    joined = (opening[: hook.column] + text + after).decode(errors="replace")
    fits = len(joined) - inner <= line_length
    return Removal.JOIN if fits else Removal.PARENTHESES


def fits_joined(lines: Sequence[str], call: Span, hooks: int, line_length: int) -> bool:
    """True if a call over three lines fits on one line without its hooks, and not with them.

    ``hooks`` is the width of the hooks in it. The arguments take the second line. A call that
    fits with its hooks as well was broken by its author.
    """
    joined = _joined(lines, call)
    return joined is not None and joined - hooks <= line_length < joined


def _looks_broken_by_hooks(
    lines: Sequence[str], call: Span, hooks: int, line_length: int
) -> bool:
    """True if a call without hooks would be joined if hooks of this width came off it."""
    joined = _joined(lines, call)
    return joined is not None and joined <= line_length < joined + hooks


def _joined(lines: Sequence[str], call: Span) -> int | None:
    """Return the length of a call over three lines, joined; None where hooks break no such call."""
    if call.end_line - call.line != 2:
        return None
    opening, arguments, closing = lines[call.line - 1 : call.end_line]
    if (
        arguments.endswith(",")
        or "#" in opening + arguments
        or not opening.endswith("(")
    ):
        return None
    return len(opening) + len(arguments.strip()) + len(closing.strip())
