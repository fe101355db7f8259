"""``art-adapt`` and ``python -m art_adapt``: answers ``--version`` before anything slow
is imported.
"""

import sys


def main() -> None:
    """Run the command line; exits with 0, 1 or 2 as docs/quickstart.md says."""
    if sys.argv[1:] in (["--version"], ["-V"]):
        from art_adapt import __version__

        print(f"art-adapt {__version__}")
        return
    from art_adapt.cli import run

    run()


if __name__ == "__main__":
    main()
