"""The commands of art-adapt, one a module: options and exit codes."""

from __future__ import annotations

import typer


def command_app() -> typer.Typer:
    """Make a Typer app whose messages are plain text and whose exceptions reach `main`."""
    return typer.Typer(
        add_completion=False, pretty_exceptions_enable=False, rich_markup_mode=None
    )
