"""Compare texts of two runs of an agent, without what differs in any two runs."""

from __future__ import annotations

import calendar
from collections.abc import Sequence

from art_adapt import hooks_file
from art_adapt.secret_texts import secrets_in
from art_adapt.seen.notes import FOLDER
from art_adapt.train_file import ENDING

PUNCTUATION = ".,;:!?'\"()[]{}"
LONGEST_NUMBER = 8  # digits: a longer one is an id or a time
MOST_DIGITS = 3  # in a word with other characters: more are an id or a date
BEFORE, AFTER = 3, 9  # words that are shown of a difference
OWN_FILES = {hooks_file.NAME, "scenarios.jsonl", FOLDER.strip(".")}
DAYS = {
    *calendar.day_name,
    *calendar.day_abbr,
    *calendar.month_name,
    *calendar.month_abbr,
}


def words_of(text: str) -> list[str]:
    """Return the words of a text, with one mark for each time, date, id and path.

    These differ in any two runs; other numbers do not. Files that art-adapt has written since then
    are left out: an agent may list those of its folder.
    """
    words = [word.strip(PUNCTUATION) for word in split(text)]
    of_a_date = {
        n + d for n, word in enumerate(words) if word in DAYS for d in (-1, 0, 1, 2)
    }
    return [
        "#" if at in of_a_date or _differs_by_itself(word) else word
        for at, word in enumerate(words)
    ]


def split(text: str) -> list[str]:
    """Return the words of a text as they stand there, but for art-adapt's own files."""
    return [word for word in text.split() if not _is_of_art_adapt(word)]


def _is_of_art_adapt(word: str) -> bool:
    name = word.strip(PUNCTUATION).rpartition("/")[2]
    return name in OWN_FILES or name.endswith(ENDING)


def _differs_by_itself(word: str) -> bool:
    """True for a path, a time, a date, an id; not for ``3``, ``3-day`` and ``days=3``."""
    digits = [c for c in word if c.isdigit()]
    number = word.strip("$%+-").replace(",", "").replace(".", "", 1)
    if number.isdecimal():
        return len(number) > LONGEST_NUMBER
    is_of_parts = any(c in "/\\" or (c == ":" and digits) for c in word)
    return is_of_parts or len(digits) > MOST_DIGITS


def differ_in_words(was: str, now: str) -> bool:
    """True if texts differ in more than numbers and the order of their words."""
    words, others = (
        sorted(w for w in words_of(text) if not any(map(str.isdigit, w)) and w != "#")
        for text in (was, now)
    )
    return words != others


def first_difference(before: Sequence[str], after: Sequence[str]) -> int:
    """Return the number of words, as ``words_of`` has them, that two texts begin with."""
    pairs = zip(before, after, strict=False)
    shorter = min(len(before), len(after))
    return next((n for n, (left, right) in enumerate(pairs) if left != right), shorter)


def excerpt(words: Sequence[str], at: int) -> str:
    """Return the words around one of a text, in quotes, unless they may hold a secret."""
    begin = max(0, at - BEFORE)
    text = " ".join(words[begin : at + AFTER])
    if not words:
        return "empty"
    if any(secrets_in(text)):
        return "(looks like a secret)"
    before = "..." if begin else ""
    return f"'{before}{text}{'...' if len(words) > at + AFTER else ''}'"
