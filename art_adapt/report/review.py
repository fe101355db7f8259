"""Prepare a plan for a reviewer: each change with its reason, and what is left to decide.

``report.markdown`` and ``report.page`` show it.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from shlex import quote

from art_adapt import hooks_file
from art_adapt.backends import INSTALL, Backend
from art_adapt.file_edit import FileEdit
from art_adapt.paths import at, shown
from art_adapt.plan import Plan
from art_adapt.recipe.fields import to_fill_in
from art_adapt.report.lines import Line
from art_adapt.report.text import found_lines
from art_adapt.source import Place, Source
from art_adapt.survey.side_effects.harm import Harm, is_kept_apart, places_by_what
from art_adapt.train_file import train_module_path

CONTEXT = 3  # lines around a change
# What is set as code in reasons and questions stands between these: private characters,
# which no source has by accident and which cannot be ended from inside.
CODE, END = "\ue000", "\ue001"
INERT = "In production a hook returns what it is given, so the agent does what it did before."


@dataclass(frozen=True)
class Rows:
    """Lines that belong together, before and after; equal ones are context."""

    before: tuple[str, ...]
    after: tuple[str, ...]

    @property
    def changed(self) -> bool:
        return self.before != self.after


@dataclass(frozen=True)
class Hunk:
    """A changed part of a file: its rows, and why it changes.

    ``first`` are the lines with which it begins before and after, 1-based.
    """

    first: tuple[int, int]
    rows: tuple[Rows, ...]
    reasons: tuple[str, ...]


@dataclass(frozen=True)
class Changed:
    """A file of the user's, with what changes in it."""

    path: Path
    hunks: tuple[Hunk, ...]


@dataclass(frozen=True)
class Generated:
    """A file that art-adapt writes whole."""

    path: Path
    state: str  # what becomes of it, and how long it is
    purpose: str
    text: str


@dataclass(frozen=True)
class Review:
    """What a reviewer of an adaptation reads, in this order."""

    title: str
    found: tuple[Line, ...]
    changed: tuple[Changed, ...]
    generated: tuple[Generated, ...]
    questions: tuple[str, ...]
    commands: tuple[str, ...]


def code(text: object) -> str:
    """Mark a text that is set as code."""
    return CODE + str(text).replace(CODE, "").replace(END, "") + END


IMPORT = (
    f"The hooks come from {code(hooks_file.NAME)}, which imports nothing but the standard "
    f"library: in production {code('recorded(create)')} returns {code('create')} itself."
)


def review_of(plan: Plan) -> Review:
    """Prepare a plan for a reviewer."""
    edits = [edit for edit in plan.edits if edit.changes]
    own = [edit for edit in edits if not edit.generated]
    names = [shown(edit.path) for edit in own or edits]
    return Review(
        ", ".join(names) or "nothing to change",
        tuple(found_lines(plan.survey, plan.decisions)),
        tuple(Changed(edit.path, tuple(_hunks(edit, plan))) for edit in own),
        tuple(_generated(edit) for edit in edits if edit.generated),
        tuple(_questions(plan)),
        tuple(_commands(plan)),
    )


def _hunks(edit: FileEdit, plan: Plan) -> Iterator[Hunk]:
    before, after = (
        [line.rstrip("\r\n") for line in Source(edit.path, data or b"").lines]
        for data in (edit.before, edit.after)
    )
    reasons = list(_reasons(edit.path, plan))
    matcher = difflib.SequenceMatcher(a=before, b=after, autojunk=False)
    for group in matcher.get_grouped_opcodes(CONTEXT):
        first, last = group[0][1] + 1, group[-1][2]
        rows = tuple(
            Rows(tuple(before[a:b]), tuple(after[c:d])) for _, a, b, c, d in group
        )
        why = [text for line, text in reasons if first <= line <= last]
        if any(hooks_file.MODULE in line for row in rows for line in row.after):
            why.insert(0, IMPORT)
        yield Hunk((first, group[0][3] + 1), rows, tuple(why))


def _reasons(path: Path, plan: Plan) -> Iterator[tuple[int, str]]:
    """Yield why each line gets its hook."""
    decisions = plan.decisions
    threads = (thread for file in plan.survey.files for thread in file.threads)
    said: list[tuple[Place, bool, str]] = [
        *(
            (
                call.place,
                call.recorded,
                f"{code(call.callee)} samples the turns that are trained: in a rollout each "
                "completion is recorded, with its messages and tools."
                if call.in_episode
                else f"{code(call.callee)} is recorded in a rollout as well. No call path leads "
                "from the entry point to it.",
            )
            for call in decisions.policy
        ),
        *(
            (
                each.place,
                each.marked,
                f"{code(each.answer)} is the answer of an episode ({each.how}): a reward can "
                "read it.",
            )
            for each in decisions.exits
        ),
        *(
            (
                each.place,
                each.marked,
                f"{code(each.expression)} is the outcome of an episode: in a rollout it is "
                "the reward.",
            )
            for each in decisions.rewards
        ),
        *(
            (
                thread.place,
                thread.marked,
                f"{code(thread.function)} runs in another thread, which would lose the "
                "rollout that it belongs to.",
            )
            for thread in threads
        ),
    ]
    for place, is_there, text in said:
        if place.path == path and not is_there:
            yield place.line, f"Line {place.line}: {text}"


def _generated(edit: FileEdit) -> Generated:
    purpose = (
        "the hooks, with the standard library only; commit it with the agent"
        if edit.path.name == hooks_file.NAME
        else "settings, scenarios, the episode, the reward and a GRPO loop; yours to edit"
    )
    if edit.after is None:
        purpose = "nothing imports it any more"
    text = (edit.after or b"").decode(errors="replace")
    return Generated(edit.path, edit.state + edit.size, purpose, text)


def _questions(plan: Plan) -> Iterator[str]:
    """Yield what only somebody who knows the agent can answer."""
    decisions = plan.decisions
    entry, training = decisions.entry, decisions.training
    isolate = None if training is None else training.isolate
    others = [each for each in decisions.other_entries if each.score > 0][:3]
    if plan.kept is not None:
        yield f"{code(shown(plan.kept.path))} has been edited and stays as it is. Does it still fit? ({code('--force')} overwrites it)"
    if entry is not None:
        for parameter in to_fill_in(entry):
            yield f"How does {code('episode()')} get {code(parameter.name)}? No call shows it: fill it in."
        if entry.is_helper:
            yield f"{code(entry)} is a helper that sends what its callers pass. Does a caller run the episode? ({code('--entry')})"
        if entry.side_job:
            yield f"{code(entry)} has a name that suggests a side job ({entry.side_job}). Does it serve an agent? Then adapt that agent's file instead."
        if others:
            also = ", ".join(f"{code(each)}" for each in others)
            yield f"Does {code(entry)} run one episode? Also possible: {also} ({code('--entry')})."
    typed = entry is not None and entry.terminal is not None  # from a scenario
    if entry is not None and not (decisions.exits or entry.returns or typed):
        last = "Is the last message of the model" if entry.keeps_answer else "What is"
        else_ = "If not, wrap it" if entry.keeps_answer else "Wrap it"
        yield f"{last} the answer of an episode? {else_} in {code('final_answer(...)')}."
    for call in decisions.auxiliary:
        yield f"{code(call.callee)} ({at(call.place)}) is not trained: {call.reason}. Right? ({code('--policy')})"
    for harm in (
        Harm.WRITES,
        Harm.COMMITS,
        Harm.NETWORK,
        Harm.PROCESS,
        Harm.CODE,
        Harm.ASKS,
        Harm.SHARED,
    ):
        effects = [
            effect
            for effect in plan.survey.effects(harm)
            if not is_kept_apart(effect, isolate)
        ]
        if effects and not (typed and harm is Harm.ASKS):
            places = [f"{code(w)} ({p})" for w, p in places_by_what(effects).items()]
            said = ", ".join(places[:4])
            yield f"Episodes run many times at once, and this {harm}: {said}. Is that safe?"
    for obstacle in plan.survey.obstacles:
        if not obstacle.every_client:
            yield f"Not supported: {obstacle.what} ({at(obstacle.place)}); {obstacle.instead}."
    if training is not None and entry is not None:
        scenarios = entry.home.parent / training.scenarios
        if ":" not in training.scenarios and not scenarios.exists():
            yield f"Which scenarios do you train on? {code(shown(scenarios))} does not exist yet."


def _commands(plan: Plan) -> Iterator[str]:
    entry = plan.decisions.entry
    if plan.decisions.training is None or entry is None:
        return
    module = quote(shown(train_module_path(entry.home)))
    yield from INSTALL[Backend.SERVERLESS]  # all that a rehearsal needs
    yield f"art-adapt rehearse {module}   # here: no GPU, no key, no network"
    yield f"art-adapt doctor {module}     # on the GPU machine, before you pay for it"
