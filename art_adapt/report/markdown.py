"""Write a review as the comment of a pull request."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from art_adapt.paths import shown
from art_adapt.report.review import CODE, END, INERT, Changed, Generated, Hunk, Review

# GitHub refuses a comment of more than 65,536 characters; some are left for what a
# workflow puts around it.
LONGEST = 65_000


def as_markdown(review: Review) -> str:
    """Return a review in GitHub's Markdown; generated files are folded to a line each.

    It is short enough for a comment: first the text of generated files is left out, then
    the last changes, and it says so.
    """
    for generated in (True, False):
        text = "\n".join(_parts(review, review.changed, generated)) + "\n"
        if len(text) <= LONGEST:
            return text
    kept, left_out = _fitting(review, LONGEST - len(_without_changes(review)))
    return "\n".join(_parts(review, kept, False, left_out)) + "\n"


def _without_changes(review: Review) -> str:
    return "\n".join(_parts(review, (), False, 1))


def _fitting(review: Review, room: int) -> tuple[list[Changed], int]:
    """Return the changes that fit into so many characters, and how many do not."""
    kept: list[Changed] = []
    left_out = 0
    for changed in review.changed:
        hunks: list[Hunk] = []
        room -= len(_headed(changed)) + 2
        for hunk in changed.hunks:
            room -= len("\n".join(_hunk(hunk))) + 1
            if room >= 0:
                hunks.append(hunk)
        left_out += len(changed.hunks) - len(hunks)
        if hunks:
            kept.append(replace(changed, hunks=tuple(hunks)))
    return kept, left_out


def _headed(changed: Changed) -> str:
    return f"### {_escaped(shown(changed.path))}"


def _parts(
    review: Review, changes: Sequence[Changed], generated: bool, left_out: int = 0
) -> Iterator[str]:
    yield f"## art-adapt: {_escaped(review.title)}"
    yield ""
    if review.changed:
        yield INERT
        yield ""
    if review.questions:
        yield "### Open questions"
        yield from (f"* [ ] {_marked(question)}" for question in review.questions)
        yield ""
    yield "### Found"
    for line in review.found:
        if line.label:
            yield f"* **{line.label}** {_escaped(line.text)}{_detail(line.detail)}"
        elif line.text.strip():
            yield f"  {_escaped(line.text.strip())}{_detail(line.detail)}"
    for changed in changes:
        yield ""
        yield _headed(changed)
        for hunk in changed.hunks:
            yield from _hunk(hunk)
    if left_out:
        places = "1 more change is" if left_out == 1 else f"{left_out} more changes are"
        yield ""
        yield f"{places} not shown, because GitHub takes no longer comment. "
        yield "`art-adapt --diff` shows them all."
    if review.generated:
        yield ""
        yield "### Generated"
        for file in review.generated:
            yield _folded(file if generated else replace(file, text=""))
    if review.commands:
        yield ""
        yield "### Try it"
        yield _fenced("\n".join(review.commands), "sh")


def _hunk(hunk: Hunk) -> Iterator[str]:
    yield ""
    yield from (f"* {_marked(reason)}" for reason in hunk.reasons)
    yield ""
    yield _fenced("\n".join(_diff(hunk)), "diff")


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
