"""Writes pages that load nothing, open offline and fit a phone; and episodes on them."""

from __future__ import annotations

import html
import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

Json = Mapping[str, Any]
STYLE = (
    "body { font-family: sans-serif; max-width: 50em; margin: 1em auto; padding: 0 1em }"
    "pre { white-space: pre-wrap; overflow-wrap: anywhere; background: #8881; padding: 0.5em }"
)


def html_page(title: str, style: str, body: str) -> str:
    """Return a page; ``title`` is text, ``body`` HTML."""
    return (
        "<!doctype html>\n<meta charset=utf-8>\n"
        '<meta name=viewport content="width=device-width,initial-scale=1">\n'
        f"<title>{html.escape(title)}</title>\n<style>{style}</style>\n{body}\n"
    )


def transcript(
    title: str, facts: Json, histories: Sequence[tuple[str, Iterable[Json]]]
) -> str:
    """Return an episode as HTML: its title, what is known of it, then its conversations.

    ``histories`` are names and messages; the name is shown where there are several.
    """
    parts = [f"<h2>{html.escape(title)}</h2>"]
    parts += [_block(name, _text(value)) for name, value in facts.items()]
    for name, messages in histories:
        if len(histories) > 1:
            parts.append(f"<h3>{html.escape(name)}</h3>")
        for message in messages:
            calls = message.get("tool_calls")
            said = [message.get("content"), calls and _text(calls)]
            text = "\n".join(_text(each) for each in said if each)
            parts.append(_block(str(message.get("role")), text))
    return "\n".join(parts)


def _block(title: str, text: str) -> str:
    return f"<h4>{html.escape(title)}</h4><pre>{html.escape(text)}</pre>"


def _text(value: Any) -> str:
    if isinstance(value, str):
        return value
    return json.dumps(value, indent=1, ensure_ascii=False)
