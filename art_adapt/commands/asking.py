"""The questions that art-adapt asks in a terminal."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from art_adapt.survey.model import EntryPoint


def can_ask() -> bool:
    return sys.stdin.isatty() and sys.stdout.isatty()


def choose_entry(entries: Sequence[EntryPoint]) -> EntryPoint:
    """Ask which of the equally likely entry points is meant."""
    from art_adapt.report.paths import shown

    print("Which function runs one episode?")
    for number, entry in enumerate(entries, 1):
        print(
            f"  {number}  {entry.called}  {shown(entry.place.path)}:{entry.place.line}"
        )
    while True:
        answer = int(typer.prompt("Number", type=int))
        if 1 <= answer <= len(entries):
            return entries[answer - 1]


def may_write() -> bool:
    return typer.confirm("Write these changes?")
