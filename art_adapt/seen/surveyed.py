"""Survey an agent again as its runs have shown it."""

from __future__ import annotations

from collections.abc import Sequence

from art_adapt.code.session import Session
from art_adapt.decisions import said_in
from art_adapt.discovery import with_entry_file
from art_adapt.seen.decision import Seen, seen_of, shown_by, with_seen
from art_adapt.seen.fields import with_given
from art_adapt.seen.roles import with_seen_roles
from art_adapt.settings import Options, Origin
from art_adapt.source import Source
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
    seen = seen_of(found, sources, options)
    options = with_seen(options, seen, found, sources)
    session.shown = shown_by(seen)
    if seen is not None or options.origin("entry") is Origin.EARLIER:
        sources = with_entry_file(sources, options.entry)
        found = _surveyed(sources, options, session)
    return *as_said(found, sources, options, session, seen), seen


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
    if found.said == said_in(options):
        return found, options
    found = _surveyed(with_entry_file(sources, options.entry), options, session)
    return with_seen_roles(with_given(found, seen), options, seen)


def _surveyed(sources: Sequence[Source], options: Options, session: Session) -> Survey:
    said = said_in(options)
    return survey(sources, entry=options.entry, session=session, said=said)
