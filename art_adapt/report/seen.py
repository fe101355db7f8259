"""Says what watched runs show of an episode's answer and of its tools."""

from __future__ import annotations

from collections.abc import Iterator

from art_adapt.paths import shown
from art_adapt.printable import counted
from art_adapt.seen.choice import ran_all_of, ran_in
from art_adapt.seen.decision import Seen
from art_adapt.seen.episodes import seen_functions
from art_adapt.seen.notes import tools_called


def seen_lines(seen: Seen | None) -> Iterator[tuple[str, str, str]]:
    """Yield a label, what was seen, and what follows from it, line by line."""
    if seen is None:
        return
    if seen.ended_early:
        said = f"{counted(len(seen.runs), 'run')}, which an error ended"
        yield "seen", said, "it shows parts of an episode: reading decides"
    if seen.function is None:
        return
    calls = seen.function.calls
    answered = sum(each.answers for each in calls)
    returned = "returned what the model said last"
    if not answered:
        one = "which did not return what the model said last"
        returned = f"none of which {returned}" if len(calls) > 1 else one
    elif answered < len(calls):
        returned = f"{answered} of which {returned}"
    else:
        returned = f"which {returned}"
    yield (
        "seen",
        f"{counted(len(calls), 'episode')}, {returned}",
        "" if answered else "so the exits above are those of the source",
    )
    if (other := other_size(seen)) is not None:
        yield "", *other
    if outside := seen.outside:
        every = sum(len(run.requests) for run in seen.runs)
        (path, name), _ = outside.most_common(1)[0]
        others = f" and {len(outside) - 1} more" if len(outside) > 1 else ""
        yield (
            "outside",
            f"{outside.total()} of {counted(every, 'request')} are in no episode: {name} "
            f"({shown(path)}){others} made them",
            "if they belong to one, name the function that runs it all with --entry",
        )
    requests = [request for each in calls for request in each.requests]
    called = {name for request in requests for name in request.called}
    offered = dict.fromkeys(name for request in requests for name in request.offered)
    never = [name for name in offered if name not in called]
    if offered or called:
        unused = f"offered but never called: {', '.join(never)}" if never else ""
        yield "", f"tools called: {tools_called(requests) or 'none'}", unused


def other_size(seen: Seen) -> tuple[str, str] | None:
    """Say that a run shows a smaller or larger episode as well, and how to name it."""
    if seen.function is None:
        return None
    if (whole := ran_all_of(seen.function)) is not None:
        path, name = whole
        every = len(seen.function.calls)
        said = f"one call of {name} ({shown(path)}) ran all {every} of them"
        return said, f"if that is one episode, --entry {path.stem}:{name}"
    inner = ran_in(seen.function, seen_functions(seen.runs))
    if inner is None:
        return None
    (path, name), count = inner
    said = (
        f"one call of {seen.function.key[1]} ran {name} ({shown(path)}) {count} times"
    )
    return said, f"if each is an episode, --entry {path.stem}:{name}"
