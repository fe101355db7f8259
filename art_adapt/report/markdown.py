"""Write a review as the comment of a pull request."""

from __future__ import annotations

import re
from collections.abc import Iterator

from art_adapt.report.paths import shown
from art_adapt.report.review import INERT, Generated, Hunk, Review


def as_markdown(review: Review) -> str:
    """Return a review in GitHub's Markdown; generated files are folded to a line each."""
    return "\n".join(_parts(review)) + "\n"


def _parts(review: Review) -> Iterator[str]:
    yield f"## art-adapt: {review.title}"
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
        yield f"### {shown(changed.path)}"
        for hunk in changed.hunks:
            yield ""
            yield from (f"* {reason}" for reason in hunk.reasons)
            yield ""
            yield _fenced("\n".join(_diff(hunk)), "diff")
    if review.generated:
        yield ""
        yield "### Generated"
        yield from map(_folded, review.generated)
    if review.questions:
        yield ""
        yield "### Open questions"
        yield from (f"* [ ] {question}" for question in review.questions)
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
    lines = file.text.count("\n")
    size = f", {lines} lines" if lines else ""
    summary = f"<code>{shown(file.path)}</code> ({file.state}{size}): {file.purpose}"
    if not file.text:
        return f"* {summary}"
    code = _fenced(file.text.rstrip("\n"), "python")
    return f"<details><summary>{summary}</summary>\n\n{code}\n</details>"


def _fenced(text: str, language: str) -> str:
    """Fence code, with more backticks than it has itself."""
    longest = max((len(run) for run in re.findall(r"`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{language}\n{text}\n{fence}"


def _detail(text: str) -> str:
    return f" ({_escaped(text)})" if text else ""


def _escaped(text: str) -> str:
    """Escape what Markdown and HTML would take as markup."""
    return re.sub(r"([\\`*_\[\]<>|#])", r"\\\1", text)
