"""The commands of art-adapt, one a module: options and exit codes."""

from __future__ import annotations

import typer

# What each is for, in the order of use; ``adapt`` is the one without a name.
COMMANDS = {
    "capture": "write scenarios from production, while the agent runs",
    "logs": "write scenarios from logs: Langfuse, LangSmith, OpenAI's, chat JSONL",
    "scenarios": "look at the rows that episodes start from",
    "rehearse": "run a train module here: no GPU, no key, no network",
    "doctor": "say what would end a run on this machine",
    "check": "find mistakes that spoil training, in any code that uses ART",
    "server": "show what check finds in an editor, while you write",
    "explain": "say what a rule of check finds, and why it matters",
    "episodes": "read what a run has kept",
    "skill": "tell a coding assistant how to use all this",
}


HELP = {"help_option_names": ["-h", "--help"]}


def command_app() -> typer.Typer:
    """Make a Typer app whose messages are plain text and whose exceptions reach `main`."""
    return typer.Typer(
        add_completion=False,
        pretty_exceptions_enable=False,
        rich_markup_mode=None,
        context_settings=dict(HELP),
    )


def command_list() -> str:
    """List the commands, a line each, as a paragraph of help that is not wrapped."""
    lines = [f"  art-adapt {name:9} {what}" for name, what in COMMANDS.items()]
    return "\n".join(["\b", "Commands (each has --help):", *lines])
