"""Tell what episodes would change outside of the project, which no copy of it keeps apart."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from art_adapt.rehearsal.outside import MADE
from art_adapt.rehearsal.parts import EPISODE
from art_adapt.rehearsal.seen import Finding, Seen, Witness
from art_adapt.source import Place


def changed_files(seen: Seen) -> Iterator[Finding]:
    """Report files of the user's that lie elsewhere: training would change or remove them."""
    for each in seen.outside:
        if each.what == MADE:
            continue
        path, _, line = each.at.rpartition(":")
        yield Finding(
            "outside",
            f"an episode {each.what} {each.path}, outside of the project: the rehearsal kept it as it "
            f"was, but training would not, and all rollouts share it",
            "keep it in the project, where --isolate copy gives each episode a copy of it; or keep "
            "the function from running, with --stub in a rehearsal and a test double in training",
            Path(path) if path else seen.path,
            int(line) if path else 1,
        )


def witnesses(seen: Seen) -> Iterator[Witness]:
    """Yield whether no file was made elsewhere, once for each line that made some."""
    made: dict[str, list[str]] = {}
    for each in seen.outside:
        if each.what == MADE:
            made.setdefault(each.at or each.path, []).append(each.path)
    for at, paths in made.items():
        first, *others = paths
        where = "" if at == first else f" ({at})"
        what = f"{first}{where}, outside of the project"
        said = (
            f"episodes made {what}, and {len(others)} more files there: the rehearsal has removed "
            "them; training leaves them where they are"
            if others
            else f"an episode made {what}: the rehearsal has removed it; in training all rollouts "
            "share it"
        )
        yield Witness(f"{first} was not made{where}", False, said)


def command_line(seen: Seen) -> Iterator[Finding]:
    """Report episodes that read the command line, which is the train module's own."""
    places = (each.read_arguments for each in seen.notes.rollouts)
    place = next(filter(None, places), None)
    if place is not None:
        path, _, line = place.rpartition(":")
        yield seen.finding(
            "command line",
            f"an episode reads the command line ({place}), which is that of the training run: the "
            "agent gets none of its options, but their defaults",
            "write in episode() what the command line would give; or choose with --entry the function "
            "that is given it, so that each row holds the options",
            Place(Path(path), int(line)) if path else None,
            EPISODE,
        )
