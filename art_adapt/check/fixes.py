"""Apply fixes to a file."""

from __future__ import annotations

import ast
import warnings
from collections.abc import Sequence

from art_adapt.check.run import check_source
from art_adapt.check.selection import Selection
from art_adapt.rules.rule import Fix, TextEdit
from art_adapt.rules.target import UNKNOWN, Target
from art_adapt.source import Source

PASSES = 20


def apply_fixes(data: bytes, fixes: Sequence[Fix]) -> bytes:
    """Apply ``fixes`` to ``data``, except those that overlap an earlier one."""
    starts = _line_starts(data)
    taken: list[tuple[int, int, bytes]] = []
    newline = b"\r\n" if b"\r\n" in data else b"\n"
    for fix in fixes:
        spans = [_span(edit, starts, newline) for edit in fix.edits]
        if not any(_overlap(span, other) for span in spans for other in taken):
            taken += spans
    for start, end, text in sorted(taken, reverse=True):
        data = data[:start] + text + data[end:]
    return data


def _line_starts(data: bytes) -> list[int]:
    """Return the offset of each line, as ``ast`` counts lines."""
    starts = [0]
    for at, byte in enumerate(data):
        if byte == 0x0A or (byte == 0x0D and data[at + 1 : at + 2] != b"\n"):
            starts.append(at + 1)
    return starts


def _span(edit: TextEdit, starts: list[int], newline: bytes) -> tuple[int, int, bytes]:
    (line, column), (end_line, end_column) = edit.start, edit.end
    text = edit.text.encode().replace(b"\n", newline)
    return starts[line - 1] + column, starts[end_line - 1] + end_column, text


def _overlap(one: tuple[int, int, bytes], other: tuple[int, int, bytes]) -> bool:
    return (one[0] < other[1] and other[0] < one[1]) or one[:2] == other[:2]


def fixed(
    source: Source,
    selection: Selection,
    target: Target = UNKNOWN,
    *,
    unsafe: bool = False,
) -> tuple[bytes, int]:
    """Fix a file in repeated passes; return its new bytes and the number of fixes.

    ``unsafe``: fixes that may change more than the mistake are made as well. A fix after which the file would not compile is not applied.
    """
    count = 0
    for _ in range(PASSES):
        fixes = [
            diagnostic.found.fix
            for diagnostic in check_source(source, selection, target).found
            if diagnostic.found.fix is not None
            and (unsafe or diagnostic.found.fix.safe)
        ]
        after = _with(source, fixes)
        if not _compiles(after):
            fixes = [fix for fix in fixes if _compiles(_with(source, [fix]))]
            after = _with(source, fixes)
        if after == source.data or not _compiles(after):
            break
        count += len(fixes)
        source = Source(source.path, after)
    return source.data, count


def _with(source: Source, fixes: Sequence[Fix]) -> bytes:
    """Apply ``fixes``, whose positions are those of the file's text in UTF-8."""
    if not fixes:
        return source.data
    text = apply_fixes(source.text.encode(), fixes).decode()
    return text.encode(source.encoding)


def _compiles(data: bytes) -> bool:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            compile(data, "fixed", "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
    except (SyntaxError, ValueError):
        return False
    return True
