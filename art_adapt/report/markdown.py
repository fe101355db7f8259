"""Write a review as the comment of a pull request."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator

from art_adapt.paths import shown
from art_adapt.report.review import CODE, END, INERT, Generated, Hunk, Review


def as_markdown(review: Review) -> str:
    """Return a review in GitHub's Markdown; generated files are folded to a line each."""
    return "\n".join(_parts(review)) + "\n"


def _parts(review: Review) -> Iterator[str]:
    yield f"## art-adapt: {_escaped(review.title)}"
    yield ""
    if review.changed:
        yield INERT
        yield ""
    yield "### Found"
    for line in review.found:
        if line.label:
            yield f"* **{line.label}** {_escaped(line.text)}{_detail(line.detail)}"
        elif line.text.strip():
            yield f"  {_escaped(line.text.strip())}{_detail(line.detail)}"
    for changed in review.changed:
        yield ""
        yield f"### {_escaped(shown(changed.path))}"
        for hunk in changed.hunks:
            yield ""
            yield from (f"* {_marked(reason)}" for reason in hunk.reasons)
            yield ""
            yield _fenced("\n".join(_diff(hunk)), "diff")
    if review.generated:
        yield ""
        yield "### Generated"
        yield from map(_folded, review.generated)
    if review.questions:
        yield ""
        yield "### Open questions"
        yield from (f"* [ ] {_marked(question)}" for question in review.questions)
    if review.commands:
        yield ""
        yield "### Try it"
        yield _fenced("\n".join(review.commands), "sh")


def _diff(hunk: Hunk) -> Iterator[str]:
    for row in hunk.rows:
        if row.changed:
            yield from (f"-{line}" for line in row.before)
            yield from (f"+{line}" for line in row.after)
        else:
            yield from (f" {line}" for line in row.before)


def _folded(file: Generated) -> str:
    summary = (
        f"<code>{html.escape(shown(file.path))}</code> ({file.state}): {file.purpose}"
    )
    if not file.text:
        return f"* {summary}"
    code = _fenced(file.text.rstrip("\n"), "python")
    return f"<details><summary>{summary}</summary>\n\n{code}\n</details>"


def _fenced(text: str, language: str) -> str:
    """Fence code, with more backticks than it has itself."""
    fence = "`" * max(3, _longest_run(text) + 1)
    return f"{fence}{language}\n{text}\n{fence}"


def _marked(text: str) -> str:
    """Set what is marked as code as a span that it cannot end, and escape the rest."""
    pieces = re.split(f"{CODE}(.*?){END}", text, flags=re.DOTALL)
    return "".join(
        _span(piece) if at % 2 else _escaped(piece) for at, piece in enumerate(pieces)
    )


def _span(text: str) -> str:
    ticks = "`" * (_longest_run(text) + 1)
    space = " " if text.startswith("`") or text.endswith("`") else ""
    return f"{ticks}{space}{' '.join(text.split())}{space}{ticks}"


def _longest_run(text: str) -> int:
    """Return how many backticks stand together in a text at most."""
    return max((len(run) for run in re.findall(r"`+", text)), default=0)


def _detail(text: str) -> str:
    return f" ({_escaped(text)})" if text else ""


def _escaped(text: str) -> str:
    """Escape what Markdown and HTML would take as markup, and what would call people."""
    return re.sub(r"([\\`*_\[\]<>|#])", r"\\\1", text).replace("@", "@\u200b")
