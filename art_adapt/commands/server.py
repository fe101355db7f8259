"""``art-adapt server``: checks files in an editor, while they are written."""

from __future__ import annotations

from art_adapt.commands import command_app
from art_adapt.errors import Refusal
from art_adapt.installing import pip_install

app = command_app()


@app.command()
def server() -> None:
    """Serve the findings of check to an editor, over standard input and output.

    Editors start it themselves: set the command ``art-adapt server`` for Python files.
    """
    try:
        from art_adapt.language_server import make_server
    except ModuleNotFoundError as error:
        raise Refusal(
            "the language server needs pygls, which is not installed",
            next_step=pip_install("server"),
        ) from error
    make_server().start_io()
