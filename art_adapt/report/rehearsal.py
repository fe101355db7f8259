"""Write a rehearsal as text, as JSON, and as a page that opens offline."""

from __future__ import annotations

import html
import json
import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict
from operator import itemgetter
from pathlib import Path
from textwrap import shorten
from typing import TextIO

from art_adapt.calls import ANY_KEY, DEFAULT_KEY
from art_adapt.comparison import comparison
from art_adapt.pages import html_page, transcript
from art_adapt.paths import at, shown
from art_adapt.printable import counted
from art_adapt.rehearsal import Conditions, Rehearsal
from art_adapt.rehearsal.cost import GPUS, Cost
from art_adapt.rehearsal.engine.outcome import EngineRun
from art_adapt.rehearsal.environment import environment
from art_adapt.rehearsal.figures import Figures
from art_adapt.rehearsal.learning import Learning, ends
from art_adapt.rehearsal.roles import Role
from art_adapt.rehearsal.seen import ToRead
from art_adapt.rehearsal.services import services
from art_adapt.report.curve import curve_as_image
from art_adapt.report.lines import Line, write
from art_adapt.report.page import rows_of
from art_adapt.report.training import training_lines

MOST_SERVICES = 12  # lines of what an agent does for real, which may be many
MOST_ROLES = 4
MOST_TOOLS = 4
SHOWN_OF_A_ROLE = 60  # characters of how it begins
LONGEST_FAILURE = 300  # characters, where failures are no finding


def announce(module: Path, conditions: Conditions, stream: TextIO) -> None:
    """Say before a rehearsal what its agent will do for real, and what it is not given."""
    stubbed = {stub.function for stub in conditions.stubs}
    lines = [
        Line(
            "for real",
            f"{at(each.place)}  {each.what}",
            each.function,
        )
        for each in services(module, in_place=conditions.in_place)
        if each.function not in stubbed
    ]
    names = [line.detail for line in lines if line.detail]
    if more := len(lines[MOST_SERVICES:]):
        lines[MOST_SERVICES:] = [Line("", f"and {more} more places")]
    if names:
        lines.append(
            Line("", f"--stub {names[0]} would keep that function from running")
        )
    given = environment("", module, conditions.let_through)
    if withheld := given.withheld:
        lines.append(
            Line(
                "withheld", ", ".join(withheld), f"--env {withheld[0]} lets it through"
            )
        )
    if unset := [name for name in given.made_up if name not in os.environ]:
        lines.append(
            Line("made up", ", ".join(unset), "not set here; training needs it")
        )
    if given.reads_default_key and not os.environ.get(DEFAULT_KEY):
        why = f"not set here; training needs it: {ANY_KEY}"
        lines.append(Line("made up", DEFAULT_KEY, why))
    write(lines, stream)


def show_rehearsal(rehearsal: Rehearsal, stream: TextIO) -> None:
    """Write the figures and the findings as text."""
    write(list(_lines(rehearsal)), stream)


def rehearsal_as_json(rehearsal: Rehearsal) -> str:
    """Return everything as one JSON object, with paths as they were given."""
    content = {
        "module": str(rehearsal.path),
        "art": rehearsal.art,
        "seconds": round(rehearsal.seconds, 2),
        "passed": rehearsal.passed,
        "figures": asdict(rehearsal.figures),
        "learning": asdict(rehearsal.learning) if rehearsal.learning else None,
        "engine": asdict(rehearsal.engine) if rehearsal.engine else None,
        "outlook": asdict(rehearsal.outlook) if rehearsal.outlook else None,
        "cost": {
            **asdict(cost),
            "seconds": cost.seconds,
            "dollars": cost.dollars,
            "fits": cost.fits,
        }
        if (cost := rehearsal.cost)
        else None,
        "witnessed": [w.statement for w in rehearsal.witnesses if w.seen],
        "unwitnessed": [w.statement for w in rehearsal.witnesses if not w.seen],
        "findings": [
            {**asdict(finding), "path": str(finding.path)}
            for finding in rehearsal.findings
        ],
    }
    return json.dumps(content, indent=2)


MADE_UP = (
    "<h2>Episodes to read</h2><p>The scripted model made up what the assistant says here. If a judge "
    "scores the episodes, it made up the rewards as well.</p>"
)


def rehearsal_as_page(rehearsal: Rehearsal) -> str:
    """Return the report as an HTML page that loads nothing, with episodes to read.

    What would go wrong stands first.
    """
    parts = [
        *_sections(_found_lines(rehearsal, "below")),
        *_sections(_seen_lines(rehearsal)),
        curve_as_image(rehearsal.learning),
        MADE_UP * bool(rehearsal.to_read),
        *map(_transcript, rehearsal.to_read),
    ]
    return html_page(f"Rehearsal of {rehearsal.path.name}", "\n".join(parts))


def _sections(lines: Iterable[Line]) -> Iterator[str]:
    """Yield headings, and what stands below each as rows."""
    below: list[Line] = []
    for line in [*lines, Line(heading=True)]:
        if not line.heading:
            below.append(line)
            continue
        yield rows_of(below)
        below = []
        yield f"<h2>{html.escape(line.text)}</h2>" * bool(line.text)


def _transcript(read: ToRead) -> str:
    episode = read.episode
    facts = {
        name: value
        for name, value in (
            ("raised", episode.failure),
            ("answer", episode.answer),
        )
        if value is not None
    }
    histories = [
        (f"conversation {at}", [item.message for item in history.items])
        for at, history in enumerate(episode.histories, 1)
    ]
    heading = f"{read.title} episode: reward {episode.reward:.3f}"
    return transcript(heading.capitalize(), facts, histories)


NOT_PROVEN = "not covered: Unsloth's training, vLLM's sleep mode, CUDA kernels and a GPU's memory"


def _lines(rehearsal: Rehearsal) -> Iterator[Line]:
    yield from _seen_lines(rehearsal)
    yield Line()
    yield from _found_lines(rehearsal)


def _seen_lines(rehearsal: Rehearsal) -> Iterator[Line]:
    numbers = rehearsal.figures
    began = bool(numbers.episodes or numbers.lost)
    counted = f"{numbers.steps} steps, {numbers.episodes} episodes"
    yield Line(
        text=f"Rehearsed {shown(rehearsal.path)} with ART {rehearsal.art}: "
        f"{counted if began else 'no episode began'}, {rehearsal.seconds:.0f} s",
        heading=True,
    )
    if not began:
        return
    yield from _figure_lines(numbers)
    if numbers.failure and not any(f.name == "failed" for f in rehearsal.findings):
        misled = (
            f"{numbers.limited} at the agent's own limit of turns; "
            * bool(numbers.limited)
            + f"{numbers.misled} after a mistake that the scripted model makes on purpose; "
            * bool(numbers.misled)
        )
        told = shorten(numbers.failure, LONGEST_FAILURE, placeholder=" ...")
        most = "most " * (numbers.failed > 1)
        yield Line("failed", f"{misled}{most}with: {told}")
    yield from _tool_lines(rehearsal)
    if rehearsal.learning is not None:
        yield from _learning_lines(rehearsal.learning)
    if rehearsal.engine is not None:
        yield from _engine_lines(rehearsal.engine)
    if rehearsal.cost is not None:
        yield from _cost_lines(rehearsal.cost)
    yield from _witness_lines(rehearsal)


def _found_lines(rehearsal: Rehearsal, where: str = "above") -> Iterator[Line]:
    if rehearsal.passed:
        missed = [witness for witness in rehearsal.witnesses if not witness.seen]
        unseen = len(missed)
        # A loop or a tool that never ran is no evidence of anything.
        lines = "line" if unseen == 1 else f"{unseen} lines"
        marks = {"seen" if each.otherwise else "not seen" for each in missed}
        marked = " or ".join(sorted(marks, reverse=True))
        but = f" But read the {lines} {where}, marked {marked}." * bool(unseen)
        yield Line(text=f"Nothing found that would cost a run.{but}", heading=True)
        if rehearsal.outlook is not None:
            backend = rehearsal.outlook.backend
            yield Line()
            yield from training_lines(rehearsal.path, backend, rehearsal.outlook)
        return
    yield Line(text="Would go wrong", heading=True)
    for finding in rehearsal.findings:
        place = f"{shown(finding.path)}:{finding.line}"
        yield Line(finding.name, f"{place}  {finding.what}")
        yield Line("", f"  fix: {finding.fix}")


def _witness_lines(rehearsal: Rehearsal) -> Iterator[Line]:
    """Say what was not seen of what adapting states, or seen instead; the JSON has it all."""
    for witness in rehearsal.witnesses:
        if witness.seen:
            if witness.is_shown:
                yield Line("as seen", witness.statement)
            continue
        if witness.otherwise:
            yield Line("seen", witness.otherwise)
        else:
            yield Line("not seen", witness.statement)


def _tool_lines(rehearsal: Rehearsal) -> Iterator[Line]:
    """Say how often each offered tool was called, rarest first, or that none was offered."""
    numbers, answered_at = rehearsal.figures, rehearsal.answers_tools
    if numbers.tools:
        shown_of = sorted(numbers.tools.items(), key=itemgetter(1))[:MOST_TOOLS]
        offered = ", ".join(f"{name} ({calls})" for name, calls in shown_of)
        several = f" and {len(numbers.tools) - MOST_TOOLS} more"
        others = numbers.tool_calls - sum(numbers.tools.values())
        unknown = f", {others} of them to tools that were not offered" * (others > 0)
        yield Line(
            "tools",
            offered + several * (len(numbers.tools) > MOST_TOOLS),
            counted(numbers.tool_calls, "call") + unknown,
        )
    elif answered_at is not None and numbers.calls:
        yield Line(
            "tools",
            "none was offered in any request",
            f"{at(answered_at)} answers tool calls: if the agent has tools, episode() must give it them",
        )


def _figure_lines(numbers: Figures) -> Iterator[Line]:
    others = f"{counted(numbers.auxiliary, 'completion')} of other models"
    judged = f"{counted(numbers.judged, 'completion')} of the judge"
    beside = ", ".join(
        [others] * bool(numbers.auxiliary or not numbers.judged)
        + [judged] * bool(numbers.judged)
    )
    if numbers.embeddings:
        beside += f", {counted(numbers.embeddings, 'request')} for embeddings"
    yield Line(
        "recorded",
        f"{numbers.recorded} of {numbers.calls} completions of the model in training",
        beside,
    )
    yield Line(
        "episodes",
        f"{numbers.turns:.1f} turns, {numbers.histories:.1f} histories, "
        f"{numbers.prompt_tokens:.0f} prompt and {numbers.sampled_tokens:.0f} sampled "
        f"tokens, {numbers.seconds:.2f} s each",
        f"{numbers.failed} failed, {numbers.lost} lost",
    )
    yield from _role_lines(numbers.roles)
    yield Line("answered", f"{numbers.answered} of {numbers.episodes} episodes")
    if numbers.reward_mean is not None:
        yield Line(
            "rewards",
            f"mean {numbers.reward_mean:.3f}, spread {numbers.reward_spread:.3f}"
            + ": made up by a scripted judge" * bool(numbers.judged),
            f"{numbers.flat_groups} of {numbers.groups} groups without variance",
        )


def _role_lines(roles: Sequence[Role]) -> Iterator[Line]:
    """Say which roles an episode trains, if there are several: a reader may want only one."""
    one_out = (
        "all are trained, with one reward; --auxiliary FUNCTION keeps one of them out"
    )
    if len({role.function for role in roles}) < len(roles):
        one_out = (
            "all are trained, with one reward; to keep one of them out, let a function of its own ask "
            "for it and name that with --auxiliary, or name its model if that is another one"
        )
    label, advice = "roles", one_out
    for role in roles[:MOST_ROLES]:
        begins = repr(shorten(role.opening, SHOWN_OF_A_ROLE))
        what = f"{role.function}, {role.requests:.1f} requests an episode: {begins}"
        yield Line(label, what, advice)
        label, advice = "", ""
    if len(roles) > MOST_ROLES:
        yield Line("", f"and {len(roles) - MOST_ROLES} more")


def _cost_lines(cost: Cost) -> Iterator[Line]:
    where = cost.gpu if cost.gpus == 1 else f"{cost.gpus} {cost.gpu}"
    if cost.seconds is None:
        why = f"{cost.base_model!r} does not say how large it is"
        yield Line("a step", f"on {where}: unknown, because {why}")
        return
    dollars = "" if cost.dollars is None else f", {cost.dollars:.2g} dollars"
    yield Line(
        "a step",
        f"on {where}: at least {cost.seconds:.2g} s{dollars} (sampling "
        f"{cost.sampling_seconds:.2g}, training {cost.training_seconds:.2g})",
        f"{cost.base_model}, {cost.episodes:.0f} episodes, {cost.tokens:,.0f} tokens, "
        f"replies of {cost.reply_tokens:.0f}",
    )
    if not cost.fits:
        needs = f"{cost.gigabytes:.0f} GB of weights do not fit on one {cost.gpu}"
        yield Line("", f"{needs}, {GPUS[cost.gpu].gigabytes:.0f} GB")


def _learning_lines(learning: Learning) -> Iterator[Line]:
    yield Line(
        "trained",
        f"{len(learning.rewards)} steps of a tiny model that chooses among "
        f"{learning.turns} turns, {learning.tokens} tokens",
        f"logprobs at most {learning.apart:.1g} apart"
        + (", some steps old" if learning.off_policy else ""),
    )
    if learning.judged:
        yield Line("judge", "scripted: it prefers one of the turns")
    for label, rewards in (
        ("rewards", learning.rewards),
        ("shuffled", learning.control),
    ):
        if rewards:
            begun, ended = ends(rewards)
            line = _sparkline(rewards, (*learning.rewards, *learning.control))
            yield Line(label, f"{begun:.2f} {line} {ended:.2f}")
    for other in learning.evaluated[1:]:
        first, others = comparison(learning.evaluated[0], other).split(": ", 1)
        yield Line("evaluated", others, first)
    same = "the same" if learning.resumed_same else "OTHER"
    yield Line(
        "resumed",
        f"at step {learning.resumed_at} of {learning.stopped_at}",
        f"{same} weights",
    )


def _engine_lines(run: EngineRun) -> Iterator[Line]:
    yield Line(
        "engine",
        f"vLLM {run.vllm} with a random model: {len(run.rewards)} steps and one more, "
        f"{run.episodes} episodes, {run.tool_calls} tool calls read by {run.parser}",
        f"started in {run.started:.0f} s",
    )
    yield Line(
        "tokens",
        f"{run.agreed} of {run.tokens} trained tokens have the engine's probability",
        f"logprobs at most {run.apart:.1g} apart",
    )
    yield Line("loaded", f"LoRA, {len(run.names)} times: {', '.join(run.names)}")
    same = "the same" if run.resumed_same else "OTHER"
    yield Line(
        "resumed", f"at step {run.resumed_at} of {run.stopped_at}", f"{same} weights"
    )
    if run.served:
        answered = "it answers" if run.answered else f"NO ANSWER: {run.refused}"
        yield Line("served", "as the run's last lines say", answered)
    yield Line("", NOT_PROVEN)


def _sparkline(values: Sequence[float], scale: Sequence[float]) -> str:
    """Draw values between the least and the largest of ``scale``."""
    bars = "▁▂▃▄▅▆▇█"
    low, high = min(0.0, *scale), max(1e-9, *scale)
    return "".join(
        bars[round((value - low) / (high - low) * (len(bars) - 1))] for value in values
    )
