"""Survey an agent again as its runs have shown it."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace

from art_adapt.code.session import Session
from art_adapt.decisions import said_in
from art_adapt.discovery import with_entry_file
from art_adapt.seen.choice import key_of
from art_adapt.seen.decision import Seen, seen_of, with_seen
from art_adapt.seen.episodes import is_of_test
from art_adapt.seen.fields import with_given
from art_adapt.seen.programs import with_program
from art_adapt.seen.roles import with_seen_roles
from art_adapt.seen.shown import shown_by
from art_adapt.seen.untold import around_untold
from art_adapt.settings import Options, Origin
from art_adapt.source import Source, read_source
from art_adapt.survey.model import Survey
from art_adapt.survey.survey import survey


def surveyed_as_seen(
    found: Survey, sources: Sequence[Source], options: Options, session: Session
) -> tuple[Survey, Options, Seen | None]:
    """Return the survey with the episode that runs show, the options that name it, and the runs.

    ``found`` is what reading the ``sources`` alone finds. What an earlier run of art-adapt
    decided is surveyed as well.

    Raises:
        Refusal: a module itself ran the episodes, or the function is in no file that is there.
    """
    seen, more = seen_around(found, sources, options, session)
    if not found.calls:  # a framework leads from there to the model
        sources = [*sources, *more]
    shown, chosen = _as_shown(found, sources, options, session, seen)
    while seen is not None and options.entry is None:
        outer = around_untold(seen, shown)
        if outer is None:
            break
        seen = replace(seen, function=outer, read=found.entry_points[0])
        shown, chosen = _as_shown(found, sources, options, session, seen)
    return shown, chosen, seen


def _as_shown(
    found: Survey,
    sources: Sequence[Source],
    options: Options,
    session: Session,
    seen: Seen | None,
) -> tuple[Survey, Options]:
    """Return the survey with the episode that runs show, and the options that name it."""
    options = with_seen(options, seen, found, sources)
    session.shown = shown_by(None if seen is None else seen.function)
    if seen is not None or options.origin("entry") is Origin.EARLIER:
        sources = with_entry_file(sources, options.entry)
        found = _surveyed(sources, options, session)
    return as_said(found, sources, options, session, seen)


def seen_around(
    found: Survey, sources: Sequence[Source], options: Options, session: Session
) -> tuple[Seen | None, list[Source]]:
    """Return what runs show of an agent, and the files around it that they were active in.

    Reading has to know what ran around the named file, to tell a way in.

    Raises:
        Refusal: such a file cannot be read.
    """
    seen = seen_of(found, sources, options)
    if more := _not_read(seen, found):
        wider = survey([*sources, *more], session=session)
        seen = seen_of(wider, sources, options)
    return seen, more


def _not_read(seen: Seen | None, found: Survey) -> list[Source]:
    """Return the files that were active when the model was asked, and that no reading came to.

    Where nothing leads from the named files to the model, or reading these does not know what ran,
    that is each of them.
    """
    if seen is None:
        return []
    chosen = seen.function is not None or seen.read is not None or seen.ran_itself
    is_told = found.calls and (chosen or seen.ended_early)
    known = found.read if is_told else [f.source for f in found.files if f.given]
    read = {os.path.realpath(source.path) for source in known}
    described = map(key_of, found.entry_points)
    if seen.function is not None and seen.function.key not in described:
        # Its file was only searched for how the agent is made.
        read.discard(str(seen.function.key[0]))
    active = {
        call.path
        for run in seen.runs
        for request in run.requests
        for call in run.outward(request.around)
        if not is_of_test(*call.key)
    }
    files = sorted(path for path in active if f"{path}" not in read)
    return [read_source(path) for path in files if path.is_file()]


def as_said(
    found: Survey,
    sources: Sequence[Source],
    options: Options,
    session: Session,
    seen: Seen | None,
) -> tuple[Survey, Options]:
    """Return the survey in which each call has the role that is said of it or was seen.

    A role changes what runs an episode, and over which client a side job asks.
    """
    found, options = with_seen_roles(with_given(found, seen), options, seen)
    if found.said != said_in(options):
        found = _surveyed(with_entry_file(sources, options.entry), options, session)
        found, options = with_seen_roles(with_given(found, seen), options, seen)
    return with_program(found, seen, options), options


def _surveyed(sources: Sequence[Source], options: Options, session: Session) -> Survey:
    said = said_in(options)
    return survey(sources, entry=options.entry, session=session, said=said)
