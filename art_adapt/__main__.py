"""Find the command of ``art-adapt`` or ``python -m art_adapt``, and report errors in one message.

Only what the command needs is imported: ``--version`` and ``--help`` must stay fast.
"""

from __future__ import annotations

import os
import sys
from importlib import import_module

CANNOT = 2
DEFAULT_COMMAND = "adapt"
COMMANDS = ("check", "doctor", "episodes", "explain", "rehearse")


def main() -> None:
    """Run the command line and exit with 0, 1 or 2, as docs/quickstart.md says.

    An error of art-adapt itself is reported in one line, too; ART_ADAPT_TRACEBACK=1 shows
    its traceback.
    """
    if sys.argv[1:] in (["--version"], ["-V"]):
        from art_adapt import __version__

        print(f"art-adapt {__version__}")
        return
    from art_adapt.errors import Refusal

    try:
        _run(sys.argv[1:])
    except Refusal as refusal:
        _stop(str(refusal))
    except BrokenPipeError:  # art-adapt --diff x | head
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(CANNOT)
    except Exception as error:
        if os.environ.get("ART_ADAPT_TRACEBACK"):
            import traceback

            traceback.print_exc()
        what = f"{type(error).__name__}: {error}"
        _stop(f"internal error: {what}\n  next: please report it; nothing was written")


def _run(arguments: list[str]) -> None:
    if arguments and arguments[0] in COMMANDS:
        name, *rest = arguments
        program = f"art-adapt {name}"
    else:
        name, rest, program = DEFAULT_COMMAND, arguments, "art-adapt"
    import_module(f"art_adapt.commands.{name}").app(rest, prog_name=program)


def _stop(message: str) -> None:
    sys.stderr.write(f"art-adapt: {message}\n")
    sys.exit(CANNOT)


if __name__ == "__main__":
    main()
