"""Whether an episode can be run again and again, where what it does may not bear that."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby

from art_adapt.guide.question import Choice, Question, Situation
from art_adapt.survey.side_effects.harm import Harm, are_in_files, places_by_what

ORDER = 20


def questions(situation: Situation) -> Iterator[Question]:
    entry = situation.entry
    if situation.is_known("single_turn") or entry is None:
        return
    if situation.options.pipeline or not any(
        c.supported for c in situation.survey.calls
    ):
        return
    # What a terminal asks is typed from a row.
    is_typed = entry.terminal is not None
    asks = [] if is_typed else situation.survey.effects(Harm.ASKS)
    commits = situation.survey.effects(Harm.COMMITS)
    runs = situation.survey.effects(Harm.CODE)
    others = (Harm.WRITES, Harm.PROCESS, Harm.NETWORK)
    lasts = runs + commits + situation.survey.effects(*others)
    if not asks and not lasts:
        return
    shown = [
        f"{what} ({at}) {harm}"
        for harm, found in groupby(asks + lasts, key=lambda effect: effect.harm)
        for what, at in places_by_what(found).items()
    ]
    listed = "".join(f"\n  {each}" for each in shown[:4])
    in_copy = Choice(
        "yes, each in a copy of the project's folder",
        {"single_turn": False, "isolate": "copy"},
        "in a process of its own; what it does outside of that folder is real"
        if runs
        else "in a process of its own; your database and files stay as they are",
    )
    shares = situation.survey.effects(Harm.SHARED)  # asked about next
    sends = any(each.changes_service for each in lasts)  # what is right, nothing tells
    again = Choice(
        "yes, run it as it is",
        {"single_turn": False} | ({} if shares else {"isolate": None}),
        "hundreds of episodes send all of it for real"
        if sends
        else "hundreds of episodes do this for real, which is fine if they only read"
        if lasts
        else "hundreds of episodes, with its tools",
    )
    once = Choice(
        "no, train on recorded requests",
        {"single_turn": True},
        "one completion per episode; none of your agent's code runs",
    )
    in_files = are_in_files(commits, lasts)
    choices: tuple[Choice, ...] = (again, once)
    if asks or sends or (commits and not in_files):
        choices = (once, again)  # what Enter takes harms nobody
    elif commits or any(each.in_files for each in lasts):
        choices = (in_copy, again, once)
    yield Question(
        "Can an episode run many times, in parallel?",
        choices,
        why=f"Training runs each scenario again and again. One episode does this:{listed}",
        of_agent=True,
        open=sends,
    )
