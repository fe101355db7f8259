"""Complete the command line in a shell: commands, their options, and files.

The commands are apps of their own, so that each imports only what it needs; here, where a
shell asks, they are put together.
"""

from __future__ import annotations

import inspect
from importlib import import_module
from typing import Any

import typer

from art_adapt.commands import COMMANDS
from art_adapt.commands.adapt import adapt

app = typer.Typer(rich_markup_mode=None, help="Complete art-adapt in your shell.")


def _command(name: str) -> Any:
    module = import_module(f"art_adapt.commands.{name}")
    return module.app.registered_commands[0].callback


def _options(**_: Any) -> None:
    """Take the options of ``art-adapt FILE``; shells complete the files themselves."""


_options.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
    [
        each
        for each in inspect.signature(adapt).parameters.values()
        if each.name != "paths"
    ]
)
app.callback(invoke_without_command=True)(_options)
for _name, _what in COMMANDS.items():
    app.command(_name, help=_what)(_command(_name))
