"""Write a review as a page: changes side by side, or one below the other on a phone."""

from __future__ import annotations

import html
from collections.abc import Iterable, Iterator
from itertools import zip_longest

from art_adapt.pages import html_page, rows
from art_adapt.paths import shown
from art_adapt.report.lines import Line
from art_adapt.report.review import CODE, END, INERT, Generated, Hunk, Review

STYLE = """\
body { max-width: 75em }
.hunk { font: 13px/1.45 ui-monospace, monospace; width: 100%; border-collapse: collapse; table-layout: fixed; margin: .5em 0 1em }
.hunk td { white-space: pre-wrap; overflow-wrap: anywhere; vertical-align: top; padding: 0 .5em }
.hunk .line { width: 3em; text-align: right; opacity: .5 }
.old { background: #ff000026 } .new { background: #00a00026 }
@media (max-width: 50em) {
  .hunk, .hunk tbody, .hunk tr, .hunk td { display: block }
  .hunk .line, .hunk .twin, .hunk .none { display: none }
  .hunk .old::before { content: "- " } .hunk .new::before { content: "+ " }
}
"""


def as_page(review: Review) -> str:
    """Return a review as an HTML page that loads nothing and opens offline."""
    title = f"art-adapt: {review.title}"
    return html_page(title, "\n".join(_parts(review)), STYLE)


def _parts(review: Review) -> Iterator[str]:
    if review.changed:
        yield f"<p>{html.escape(INERT)}</p>"
    if review.questions:
        yield "<h2>Open questions</h2>\n<ul>"
        yield from (f"<li>{_coded(question)}</li>" for question in review.questions)
        yield "</ul>"
    yield "<h2>Found</h2>"
    yield rows_of(review.found)
    for changed in review.changed:
        yield f"<h2>{html.escape(shown(changed.path))}</h2>"
        yield from map(_hunk, changed.hunks)
    if review.generated:
        yield "<h2>Generated</h2>"
        yield from map(_folded, review.generated)
    if review.commands:
        commands = html.escape("\n".join(review.commands))
        yield f"<h2>Try it</h2>\n<pre>{commands}</pre>"


def rows_of(lines: Iterable[Line]) -> str:
    """Return lines of a report as HTML, each label beside its text."""
    return rows((line.label, _text(line)) for line in lines if line.label or line.text)


def _text(line: Line) -> str:
    text, detail = html.escape(line.text.strip()), html.escape(line.detail)
    text = f"<code>{text}</code>" if line.is_command else text
    return f"<span>{text}{f' <small>{detail}</small>' * bool(detail)}</span>"


def _hunk(hunk: Hunk) -> str:
    reasons = "".join(f"<li>{_coded(reason)}</li>" for reason in hunk.reasons)
    cells = []
    old, new = hunk.first
    for row in hunk.rows:
        for before, after in zip_longest(row.before, row.after):
            left = _cell(before, old, "old" if row.changed else "twin")
            right = _cell(after, new, "new" if row.changed else "")
            cells.append(f"<tr>{left}{right}</tr>")
            old += before is not None
            new += after is not None
    return f"<ul>{reasons}</ul>\n<table class=hunk>\n" + "\n".join(cells) + "\n</table>"


def _cell(line: str | None, number: int, kind: str) -> str:
    if line is None:
        return "<td class=line></td><td class=none></td>"
    return f'<td class=line>{number}</td><td class="{kind}">{html.escape(line)}</td>'


def _folded(file: Generated) -> str:
    summary = (
        f"<code>{html.escape(shown(file.path))}</code> ({file.state}): {file.purpose}"
    )
    code = f"<pre>{html.escape(file.text)}</pre>" if file.text else ""
    return f"<details><summary>{summary}</summary>{code}</details>"


def _coded(text: str) -> str:
    """Set what is marked as code."""
    return html.escape(text).replace(CODE, "<code>").replace(END, "</code>")
