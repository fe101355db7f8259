"""Says what speaks for and against each function that could run an episode."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from art_adapt.entry_decision import near, option_for
from art_adapt.paths import at
from art_adapt.printable import counted
from art_adapt.seen.decision import Seen
from art_adapt.seen.episodes import SeenFunction, seen_functions
from art_adapt.settings import Origin
from art_adapt.survey.candidates.weights import reasons, score_of
from art_adapt.survey.model import EntryPoint

MOST_EXPLAINED = 8


def explained(entries: Sequence[EntryPoint]) -> Iterator[str]:
    """Yield lines about the likeliest candidates, each with what its score consists of."""
    for number, entry in enumerate(entries[:MOST_EXPLAINED], 1):
        yield f"{number}. {entry.called}  {at(entry.place)}  {_signed(entry.score)}"
        yield from (
            f"   {_signed(w):>4}  {says}" for w, says in reasons(entry.features)
        )
        moved = entry.score - score_of(entry.features)
        if moved and entry.features:
            yield f"   {_signed(moved):>4}  its relations to other candidates: who calls whom"
        if entry.is_script:
            yield "         the file itself, whose module drives the conversation"
        elif not entry.features:
            yield "         no path from it to a policy call was found"
    if (more := len(entries) - MOST_EXPLAINED) > 0:
        yield f"and {more} more"
    if entries and (rivals := near(entries[0], entries[1:])):
        names = ", ".join(option_for(each, entries) for each in rivals)
        yield f"Nearly as likely as {entries[0].called}: {names}. Choose with --entry."


HELPS = (
    "a helper that sends what its callers pass, and no caller with a conversation was found: if "
    "a caller runs the episode, name it with --entry"
)
IS_TURN = (
    "its object keeps the conversation, so an episode is the first turn of one: if a loop takes "
    "several, name that loop's function with --entry, or run art-adapt capture"
)


def doubts_about(
    entry: EntryPoint, others: Sequence[EntryPoint], origin: Origin
) -> Iterator[str]:
    """Yield what may speak for another episode than ``entry``, unless the user chose it."""
    if origin in (Origin.FLAG, Origin.ANSWER, Origin.EARLIER):
        return
    if origin is not Origin.SEEN:
        yield from _rivals(entry, others)
    if entry.is_helper:
        yield HELPS
    if entry.is_turn:
        yield IS_TURN
    if entry.side_job:
        yield (
            f"its name suggests a side job ({entry.side_job}): if it serves an agent, adapt that "
            "agent's file instead"
        )


def _rivals(entry: EntryPoint, others: Sequence[EntryPoint]) -> Iterator[str]:
    """Yield the functions that may run an episode as well, by what reading says."""
    every = [entry, *others]
    close = near(entry, others)[:3]
    further = [e for e in others if e.score > 0 and e not in close][: 3 - len(close)]
    if close:
        named = ", ".join(option_for(each, every) for each in close)
        yield f"nearly as likely: {named} (choose with --entry, or run art-adapt capture)"
    if further:
        options = ", ".join(option_for(each, every) for each in further)
        yield f"also possible: {options} (choose with --entry)"
    for each in others:
        if each.is_typed_to and each not in close and each not in further:
            option = option_for(each, every)
            yield f"one turn of {option}, which a person types to: --entry {option} runs a whole conversation"


SHOWS_NOTHING = "the model received none of its arguments, and it returned no answer"


def explained_runs(seen: Seen | None) -> Iterator[str]:
    """Yield lines about the functions in which runs asked a model, and which one is taken."""
    if seen is None:
        return
    runs = counted(len(seen.runs), "run")
    itself = " the file itself ran the conversation" * seen.ran_itself
    yield f"Seen in {runs}:{itself}"
    for each in seen_functions(seen.runs)[:MOST_EXPLAINED]:
        taken = (
            "  <- taken"
            if seen.function is not None and each.key == seen.function.key
            else ""
        )
        shown = ", ".join(_shown_by(each)) or SHOWS_NOTHING
        yield f"   {each.key[1]}: {shown}{taken}"


def _shown_by(function: SeenFunction) -> Iterator[str]:
    """Yield what runs show of a function as the one that runs an episode."""
    if any(each.is_part for each in function.calls):
        yield "a step, because it was given the output of the model"
    elif function.is_batch:
        yield "perhaps a batch, because it ran another function for each of the rows that it was given"
    elif not function.runs_episodes:
        yield "a step, because the conversation continued outside it"
    elif function.is_inner:
        yield "part of another function that was given the task"
    if function.given:
        yield f"the model received its arguments ({', '.join(function.given)})"
    if function.answers:
        yield "it returned the output of the model"


def _signed(number: int) -> str:
    return f"{number:+d}"
