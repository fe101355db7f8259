"""Writes pages that load nothing, open offline and fit a phone; and episodes on them."""

from __future__ import annotations

import html
import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

Json = Mapping[str, Any]
STYLE = """\
:root { color-scheme: light dark }
body { font: 15px/1.5 system-ui, sans-serif; max-width: 60em; margin: 1em auto; padding: 0 1em }
h2 { margin-top: 1.5em; border-bottom: 1px solid #8884 }
code, pre { font: 13px/1.45 ui-monospace, monospace }
pre { white-space: pre-wrap; overflow-wrap: anywhere; background: #8881; padding: .5em; margin: 0 }
.rows { display: grid; grid-template-columns: max-content minmax(0, 1fr); gap: .3em 1em }
.rows > b { opacity: .7; font-weight: 600 }
.rows > span { overflow-wrap: anywhere }
.rows > b:has(+ pre) { padding-top: .4em }
img { max-width: 100% }
@media (max-width: 50em) { .rows, .rows > * { display: block } }
"""


def html_page(title: str, body: str, style: str = "") -> str:
    """Return a page; ``title`` is text, ``body`` HTML; ``style`` adds to ``STYLE``."""
    return (
        "<!doctype html>\n<meta charset=utf-8>\n"
        '<meta name=viewport content="width=device-width,initial-scale=1">\n'
        f"<title>{html.escape(title)}</title>\n<style>{STYLE}{style}</style>\n"
        f"<h1>{html.escape(title)}</h1>\n{body}\n"
    )


def rows(pairs: Iterable[tuple[str, str]]) -> str:
    """Return a label beside each value, or above it on a phone; the values are HTML."""
    cells = (f"<b>{html.escape(label)}</b>{value}\n" for label, value in pairs)
    return f"<div class=rows>\n{''.join(cells)}</div>"


def transcript(
    title: str, facts: Json, histories: Sequence[tuple[str, Iterable[Json]]]
) -> str:
    """Return an episode as HTML: its title, what is known of it, then its conversations.

    ``histories`` are names and messages; the name is shown where there are several.
    """
    parts = [f"<h2>{html.escape(title)}</h2>"]
    parts.append(rows((name, _block(_text(value))) for name, value in facts.items()))
    for name, messages in histories:
        heading = name if len(histories) > 1 else "conversation"
        parts.append(f"<h3>{html.escape(heading)}</h3>")
        parts.append(
            rows((str(each.get("role")), _block(_said(each))) for each in messages)
        )
    return "\n".join(parts)


def _said(message: Json) -> str:
    """Return what a message says, and a line for each tool that it calls."""
    content = message.get("content")
    calls = [
        call.get("function") or call.get("custom") or call
        for call in message.get("tool_calls") or ()
    ]
    called = [
        f"{each.get('name')}({each.get('arguments', each.get('input', ''))})"
        for each in calls
    ]
    return "\n".join([*([_text(content)] if content else []), *called])


def _block(text: str) -> str:
    return f"<pre>{html.escape(text)}</pre>"


def _text(value: Any) -> str:
    if isinstance(value, str):
        return value
    return json.dumps(value, indent=1, ensure_ascii=False)
