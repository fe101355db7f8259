"""``art-adapt`` and ``python -m art_adapt``: finds the command, and tells what went wrong in one
line. Nothing that the command does not need is imported.
"""

from __future__ import annotations

import os
import sys

CANNOT = 2


def main() -> None:
    """Run the command line; exits with 0, 1 or 2 as docs/quickstart.md says. A mistake of
    ours is told in one line too; ART_ADAPT_TRACEBACK=1 shows where it is.
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
    command, rest = arguments[:1], arguments[1:]
    if command == ["rehearse"]:
        from art_adapt.rehearsal.command import app as rehearse

        rehearse(rest, prog_name="art-adapt rehearse")
    elif command == ["check"]:
        from art_adapt.check.command import app as check

        check(rest, prog_name="art-adapt check")
    elif command == ["explain"]:
        from art_adapt.check.command import explaining

        explaining(rest, prog_name="art-adapt explain")
    else:
        from art_adapt.cli import app as adapt

        adapt(arguments, prog_name="art-adapt")


def _stop(message: str) -> None:
    sys.stderr.write(f"art-adapt: {message}\n")
    sys.exit(CANNOT)


if __name__ == "__main__":
    main()
