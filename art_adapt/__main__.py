"""Find the command of ``art-adapt`` or ``python -m art_adapt``, and report errors in one message.

Only what the command needs is imported: ``--version`` and ``--help`` must stay fast.
"""

from __future__ import annotations

import gc
import io
import os
import sys
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from art_adapt.errors import Refusal

CANNOT = 2
SELDOM = 100_000  # new objects, not 700: trees of syntax stay until the end
DEFAULT_COMMAND = "adapt"
# What ``python agent_train.py`` takes (training/plan.py).
OF_TRAIN_MODULES = ("train", "evaluate", "probe", "demonstrate")
OPTIONS_OF_ADAPT = ("undo", "diff")  # which other tools have as commands
COMPLETING = "_ART_ADAPT_COMPLETE"  # how a shell asks, through Typer
COMPLETION = ("--install-completion", "--show-completion")


def main() -> None:
    """Run the command line and exit with 0, 1 or 2, as docs/command-line.md says.

    An error of art-adapt itself is reported in one line, too; ART_ADAPT_TRACEBACK=1 shows
    its traceback.
    """
    if sys.argv[1:] in (["--version"], ["-V"]):
        from art_adapt import __version__

        print(f"art-adapt {__version__}")
        return
    from art_adapt.errors import Refusal

    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:  # it was closed
            setattr(sys, name, open(os.devnull, mode))  # noqa: SIM115 - for good
    if isinstance(sys.stdout, io.TextIOWrapper):  # names in whatever encoding
        sys.stdout.reconfigure(errors="backslashreplace")
    try:
        _run(sys.argv[1:])
    except Refusal as refusal:
        _stop(refusal)
    except BrokenPipeError:  # art-adapt --diff x | head
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(CANNOT)
    except Exception as error:
        if os.environ.get("ART_ADAPT_TRACEBACK"):
            import traceback

            traceback.print_exc()
        what = f"internal error: {type(error).__name__}: {error}"
        remedy = "report it, with the traceback that ART_ADAPT_TRACEBACK=1 prints"
        _stop(Refusal(what, next_step=remedy))


def _run(arguments: list[str]) -> None:
    from art_adapt.commands import COMMANDS

    gc.set_threshold(SELDOM)
    first = arguments[0] if arguments else ""
    if not arguments and COMPLETING not in os.environ:
        arguments = ["--help"]
    if COMPLETING in os.environ or first in COMPLETION:
        name, rest, program = "completion", arguments, "art-adapt"
    elif first in COMMANDS:
        name, rest, program = first, arguments[1:], f"art-adapt {first}"
    else:
        name, rest, program = DEFAULT_COMMAND, arguments, "art-adapt"
        _look_for_a_command(arguments, COMMANDS)
    import_module(f"art_adapt.commands.{name}").app(rest, prog_name=program)


def _look_for_a_command(arguments: list[str], commands: Iterable[str]) -> None:
    """Refuse a first word that is no file, but an option's name or nearly a command."""
    word = arguments[0] if arguments else ""
    if word.isalpha() and not os.path.exists(word):
        from difflib import get_close_matches

        from art_adapt.errors import Refusal

        if word in OF_TRAIN_MODULES:
            from pathlib import Path

            from art_adapt.train_file import ENDING, train_module_path

            files = [Path(each) for each in arguments[1:] if each.endswith(".py")]
            named = files[0] if files else Path("agent.py")
            module = named if named.name.endswith(ENDING) else train_module_path(named)
            raise Refusal(
                f"not a command of art-adapt: {word!r} belongs to the train module",
                next_step=f"python {module} {word}".removesuffix(" train"),
            )
        if word in OPTIONS_OF_ADAPT:
            rest = " ".join(arguments[1:]) or "agent.py"
            raise Refusal(
                f"not a command of art-adapt: {word!r} is an option",
                next_step=f"art-adapt --{word} {rest}",
            )
        near = get_close_matches(word, commands, 1, 0.7)
        if near:
            raise Refusal(
                f"no such file or command: {word!r}",
                next_step=f"did you mean art-adapt {near[0]}?",
            )


def _print_json(refusal: Refusal) -> None:
    import json

    error = {
        "what": refusal.what,
        "why": refusal.why,
        "next_step": refusal.next_step,
        "path": None if refusal.path is None else str(refusal.path),
        "line": refusal.line,
        "column": refusal.column,
    }
    print(json.dumps({"error": error}))


def _stop(refusal: Refusal) -> None:
    from art_adapt.printable import printable
    from art_adapt.terminal import fitted

    if "--json" in sys.argv:
        _print_json(refusal)
    text = printable(f"art-adapt: {refusal}")
    sys.stderr.write(fitted(text, sys.stderr, indent=8) + "\n")
    sys.exit(CANNOT)


if __name__ == "__main__":
    main()
