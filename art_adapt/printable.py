"""Makes text and names of files safe to print: on a terminal, in a log, in a patch."""

from __future__ import annotations

import re

# What a terminal takes as an order, marks of direction among them, and halves of surrogate
# pairs, which no encoding has.
ORDERS = r"\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff"
CONTROL = re.compile(f"[{ORDERS}]")
UNSAFE = re.compile(rf'[{ORDERS}\t\n"\\]')
SPELLED = {
    **dict(zip("\a\b\t\n\v\f\r", "abtnvfr", strict=True)),
    '"': '"',
    "\\": "\\",
}
# What CI servers take as a command at the beginning of a line.
COMMANDS = ("::", "##")


def printable(text: str) -> str:
    r"""Spell control characters, as ``\x1b``, but for line ends and tabs."""
    text = text.replace("\r\n", "\n")
    return CONTROL.sub(lambda found: repr(found[0])[1:-1], text)


def quoted(name: str) -> str:
    r"""Return a file's name as git writes it: ``"a\nb.py"`` where it holds a line end."""
    if UNSAFE.search(name) is None:
        return name
    return f'"{UNSAFE.sub(_spelled, name)}"'


def quoted_at_start(name: str) -> str:
    """Return a name for the beginning of a line, where it must be no command."""
    return quoted(f"./{name}" if name.startswith(COMMANDS) else name)


def _spelled(found: re.Match[str]) -> str:
    if found[0] in SPELLED:
        return f"\\{SPELLED[found[0]]}"
    try:
        data = found[0].encode(errors="surrogateescape")
    except UnicodeEncodeError:  # half of a pair that stands for no byte
        data = found[0].encode(errors="surrogatepass")
    return "".join(f"\\{byte:03o}" for byte in data)


def counted(count: int, what: str) -> str:
    """Return a number with its noun."""
    return f"{count} {what}{'' if count == 1 else 's'}"
