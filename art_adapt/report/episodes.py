"""Show episodes on a terminal, as a training run has kept them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from rich.console import RenderableType
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

Json = Mapping[str, Any]
COLOURS = {"system": "dim", "user": "cyan", "assistant": "green", "tool": "yellow"}


def episode_view(title: str, episode: Json, longest: int) -> RenderableType:
    """Lay out one episode: scenario, conversations, answer, metrics, logs.

    Texts of more than ``longest`` characters are cut in their middle.
    """
    heading = f"{title}: reward {episode['reward']:.3f}"
    rows = Table.grid(padding=(0, 1))
    for label, text in _rows(episode, longest):
        rows.add_row(label, text)
    return Panel(rows, title=heading, title_align="left", padding=(0, 1))


Row = tuple[Text, Text]


def _rows(episode: Json, longest: int) -> Iterator[Row]:
    yield _row("scenario", _text(episode["scenario"]), "bold", longest)
    for history in episode["histories"]:
        if len(episode["histories"]) > 1:
            yield Text(), Text(history["name"], style="bold underline")
        for message in history["messages"]:
            role = str(message.get("role"))
            colour = COLOURS.get(role, "")
            if content := message.get("content"):
                yield _row(role, _text(content), colour, longest)
            for call in message.get("tool_calls") or ():
                called = call.get("function") or {}
                said = f"{called.get('name')}({called.get('arguments')})"
                yield _row("calls", said, "magenta", longest)
    yield _row("answer", _text(episode["final_answer"]), "bold", longest)
    metrics = (f"{name} {value}" for name, value in episode["metrics"].items() if value)
    yield _row("metrics", ", ".join(metrics), "dim", longest)
    for log in episode["logs"]:
        yield _row("log", log, "dim", longest)


def _row(label: str, text: str, style: str, longest: int) -> Row:
    if len(text) > longest:
        half = longest // 2
        left = len(text) - 2 * half
        text = f"{text[:half]} [... {left:,} characters ...] {text[-half:]}"
    return Text(label, style=style), Text(printable(text))


def printable(text: str) -> str:
    """Return the text without what a terminal would obey."""
    return "".join(c if c.isprintable() or c == "\n" else "?" for c in text)


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
