"""Edit one file by itself, for the commands of libcst's tool (``codemods/editing.py``).

``art_adapt`` imports this module, so the functions import what they need when they are called.
"""

from __future__ import annotations


def add_hooks(name: str, data: bytes, hook: str) -> bytes:
    """Put every ``hook`` that the file lacks where the survey finds that it belongs.

    Raises:
        libcst.codemod.SkipFile: the file cannot be adapted.
    """
    from pathlib import Path

    from libcst.codemod import SkipFile

    from art_adapt.adaptation import DEFAULT_LINE_LENGTH, adapt_source, wraps_of
    from art_adapt.decisions import decide
    from art_adapt.errors import Refusal
    from art_adapt.settings import Options
    from art_adapt.source import Source
    from art_adapt.survey.survey import survey

    source = Source(Path(name).absolute(), data)
    try:
        found = survey([source])
        decisions = decide(found, Options(train_module=False))
        file = next(f for f in found.files if f.source.path == source.path)
        wraps = wraps_of(file, decisions, (hook,))
        place = file.hooks_place or file.hooks_places[0]
        return adapt_source(file, wraps, place, DEFAULT_LINE_LENGTH)
    except Refusal as refusal:
        raise SkipFile(str(refusal)) from refusal


def remove_hooks(name: str, data: bytes) -> bytes:
    """Take all hooks and their import off the file.

    Raises:
        libcst.codemod.SkipFile: the file uses hooks in ways that art-adapt does not write.
    """
    from pathlib import Path

    from libcst.codemod import SkipFile

    from art_adapt.adaptation import DEFAULT_LINE_LENGTH, remove
    from art_adapt.errors import Refusal
    from art_adapt.source import Source

    try:
        return remove(Source(Path(name).absolute(), data), DEFAULT_LINE_LENGTH)
    except Refusal as refusal:
        raise SkipFile(str(refusal)) from refusal
