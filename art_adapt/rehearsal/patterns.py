"""Makes texts that match a regular expression, for the ``pattern`` of a JSON schema."""

from __future__ import annotations

import re
import string
from collections.abc import Iterable
from random import Random
from re import _parser  # type: ignore[attr-defined]  # sre_parse before Python 3.11
from typing import Any

OFTEN = 3  # how often more than it must, what may be repeated is
TRIES = 20
ANY = string.ascii_letters + string.digits
OF_CATEGORY = {
    "CATEGORY_DIGIT": string.digits,
    "CATEGORY_SPACE": " ",
    "CATEGORY_WORD": ANY + "_",
    "CATEGORY_NOT_DIGIT": string.ascii_letters,
    "CATEGORY_NOT_SPACE": ANY,
    "CATEGORY_NOT_WORD": "-.",
}


def text_for(pattern: str, random: Random) -> str | None:
    """Make a text in which a pattern is found; None: it is none, or asks for too much."""
    try:
        parsed = _parser.parse(pattern)
        for _ in range(TRIES):  # looking ahead and behind is left to chance
            text = _of_all(parsed, random, {})
            if re.search(pattern, text):
                return text
    except (re.error, RecursionError, IndexError):
        pass
    return None


def _of_all(parsed: Iterable[Any], random: Random, groups: dict[int, str]) -> str:
    return "".join(_of(str(kind), given, random, groups) for kind, given in parsed)


def _of(kind: str, given: Any, random: Random, groups: dict[int, str]) -> str:
    match kind:
        case "LITERAL":
            return chr(given)
        case "NOT_LITERAL":
            return random.choice([each for each in ANY if ord(each) != given])
        case "ANY":
            return random.choice(ANY)
        case "IN":
            return random.choice(_choices(given))
        case "BRANCH":
            return _of_all(random.choice(given[1]), random, groups)
        case "SUBPATTERN":
            groups[given[0]] = text = _of_all(given[-1], random, groups)
            return text
        case "GROUPREF":
            return groups.get(given, "")
        case "ATOMIC_GROUP":
            return _of_all(given, random, groups)
        case "MAX_REPEAT" | "MIN_REPEAT" | "POSSESSIVE_REPEAT":
            least, most, repeated = given
            times = random.randint(least, min(most, least + OFTEN))
            return "".join(_of_all(repeated, random, groups) for _ in range(times))
    return ""  # where it has to stand, which a search tells


def _choices(given: Any) -> str:
    """Return the characters of a set; for one that is negated, those that are not in it."""
    chosen = ""
    for kind, value in given:
        match str(kind):
            case "LITERAL":
                chosen += chr(value)
            case "RANGE":
                chosen += "".join(map(chr, range(value[0], value[1] + 1)))
            case "CATEGORY":
                chosen += OF_CATEGORY.get(str(value), "")
    if str(given[0][0]) == "NEGATE":
        return "".join(each for each in ANY if each not in chosen)
    return chosen
