"""Check what the train module hands to training: groups, answers, metrics."""

from __future__ import annotations

import re
from collections.abc import Iterator

from art_adapt.rehearsal.checks.as_seen import ends_as_seen
from art_adapt.rehearsal.compared_texts import words_of
from art_adapt.rehearsal.endless import went_on
from art_adapt.rehearsal.parts import (
    ANSWERS,
    EPISODE,
    ROLLOUT,
    calls,
    reads,
)
from art_adapt.rehearsal.protocol import LONGEST, Trajectory
from art_adapt.rehearsal.seen import Finding, Seen, Witness, has_answer, shortened

OPAQUE = re.compile(r"<[\w.]+(\.<locals>)?[\w.]* object at 0x[0-9a-f]+>")
WORD = re.compile(r"[\w-]{5,}")
ENOUGH = 4  # episodes, to tell that it is no chance


def awaited_early(seen: Seen) -> Iterator[Finding]:
    """Report groups that were awaited before they were gathered."""
    if seen.notes.awaited_early:
        yield seen.finding(
            "awaited early",
            "groups were awaited before gather_trajectory_groups, which then does not run "
            "them concurrently or count their failures",
            "pass art.TrajectoryGroup(...) to gather_trajectory_groups without await",
            calls("TrajectoryGroup"),
        )


def answers(seen: Seen) -> Iterator[Finding]:
    """Report that no episode has a final answer, of those that the rehearsal let end."""
    if _lack_answers(seen) and not ends_as_seen(seen):
        yield seen.finding(
            "answer",
            "no episode set trajectory.final_answer: a reward that reads it sees None"
            if all(t.answer is None for t in seen.trained)
            else "trajectory.final_answer is empty in every episode",
            "return the answer from episode(), or wrap it in final_answer(...) in the "
            "agent; if it answers only after a certain reply or tool call, supply it "
            "with --replies",
            ANSWERS,
            calls("Trajectory"),
            EPISODE,
            ROLLOUT,
        )


def _lack_answers(seen: Seen) -> bool:
    ended = [t for t in seen.trained if not went_on(t)]
    return bool(ended) and not any(map(has_answer, ended))


def witnesses(seen: Seen) -> Iterator[Witness]:
    """Yield that episodes end with no answer, or all with one, where a watched run did so as well."""
    as_run = ends_as_seen(seen)
    if as_run and _lack_answers(seen):
        yield Witness(
            "episodes have a final answer",
            False,
            "no episode has a final answer, as in the watched run: a reward that reads it sees None",
        )
    elif as_run and (same := _same_answer(seen)) is not None:
        yield Witness(
            "episodes end with different answers",
            False,
            f"all episodes ended with the answer {shortened(same)}, as the watched run did; if it is "
            "a status, mark the model's answer with final_answer(...) in the agent",
        )


def echoed_answers(seen: Seen) -> Iterator[Finding]:
    """Report that every episode ended with a text of its row: a reward would grade the task."""
    ended = [t for t in seen.trained if t.failure is None and has_answer(t)]
    rows = [row for row in seen.notes.scenarios if isinstance(row, dict)]
    told = {
        (repr(text)[:LONGEST], name)
        for row in rows
        for name, text in row.items()
        if isinstance(text, str) and text.strip()
    }
    fields = [{name for text, name in told if text == t.answer} for t in ended]
    same = set.intersection(*fields) if len(ended) >= ENOUGH else set()
    if same and not all(map(_is_of_model, ended)):
        yield seen.finding(
            "answer",
            f"the final answer of all {len(ended)} episodes is scenario.{min(same)}: a reward would "
            "grade the task",
            "wrap what the model has answered in final_answer(...), where the agent has it",
            ANSWERS,
            EPISODE,
            ROLLOUT,
        )


def same_answers(seen: Seen) -> Iterator[Finding]:
    """Report that every episode ended with one answer, whatever the model said.

    That is a status, or what an agent says when it gives up. What the model has said itself
    is an answer, as JSON of a schema that leaves no choice.
    """
    same = None if ends_as_seen(seen) else _same_answer(seen)
    if same is None:
        return
    yield seen.finding(
        "same answer",
        f"all {len(_ended(seen))} episodes ended with the answer {shortened(same)}, whatever "
        "the model said",
        "if this is a status, mark the model's answer with final_answer(...) in the agent; "
        "if the agent gives up on the scripted model's replies, supply acceptable ones "
        "with --replies",
        ANSWERS,
        EPISODE,
        ROLLOUT,
    )


def _ended(seen: Seen) -> list[Trajectory]:
    return [each for each in seen.trained if each.failure is None]


def _same_answer(seen: Seen) -> str | None:
    """Return the answer that all episodes ended with, if the model did not say it itself."""
    ended = _ended(seen)
    # An id in it, made anew each time, is no answer of the model's.
    given = {tuple(words_of(str(t.answer))) for t in ended}
    said = {str(t.choices[-1].message.get("content")) for t in ended if t.choices}
    if len(ended) < ENOUGH or len(given) > 1 or len(said) < ENOUGH:
        return None
    same = ended[0].answer
    is_cut = same is not None and len(same) == LONGEST  # two may go on differently
    return None if is_cut or any(map(_is_of_model, ended)) else same


def _is_of_model(episode: Trajectory) -> bool:
    """True if the whole answer, or each word of it that may be an id, is what the model said.

    Of ``{"lines": ["grove-71"]}`` an agent may return ``["grove-71"]``.
    """
    answer = str(episode.answer)
    contents = [str(item.message.get("content")) for item in episode.choices]
    if any(answer.strip("'\"") in content for content in contents):
        return True
    unlike = [w for w in WORD.findall(answer) if any(map(str.isdigit, w))]
    said = {word for content in contents for word in WORD.findall(content)}
    return bool(unlike) and said.issuperset(unlike)


def earlier_answers(seen: Seen) -> Iterator[Finding]:
    """Report answers to a question after which the episode asked another one.

    The code that answers the last question has set none: it gave up, for example.
    """
    ended = [t for t in seen.trained if t.failure is None and not t.timed_out]
    earlier = sum(map(_is_earlier, ended))
    if earlier:
        yield seen.finding(
            "earlier answer",
            f"in {earlier} of {len(seen.trained)} episodes, the final answer is what the model "
            "said before it was asked something else: the reward and the judge would take it "
            "for the answer to that",
            "wrap what the agent says instead, as when it runs out of turns, in "
            "final_answer(...), too",
            ANSWERS,
            EPISODE,
            ROLLOUT,
        )


def _is_earlier(trajectory: Trajectory) -> bool:
    """True if a later question follows the answer wherever the model has said it."""
    followed = []
    for history in trajectory.histories:
        messages = [item.message for item in history.items]
        said = [
            number
            for number, message in enumerate(messages)
            if repr(message.get("content"))[:LONGEST] == trajectory.answer
        ]
        if said:
            later = {message.get("role") for message in messages[said[-1] :][1:]}
            followed.append({"user", "assistant"} <= later)
    return bool(followed) and all(followed)


def opaque_answers(seen: Seen) -> Iterator[Finding]:
    """Report answers that are objects without a text: a judge would read an address."""
    given = [t.answer or "" for t in seen.trained]
    opaque = [answer for answer in given if OPAQUE.search(answer)]
    if opaque and 2 * len(opaque) > len(seen.trained):
        yield seen.finding(
            "answer",
            f"{len(opaque)} of {len(seen.trained)} answers are or contain objects, such as {opaque[0][:80]}",
            "return the object's text from episode(), or mark it with final_answer(...)",
            ANSWERS,
            EPISODE,
            ROLLOUT,
        )


def metrics(seen: Seen) -> Iterator[Finding]:
    """Report metrics that are not numbers."""
    bad = (n for t in seen.episodes for n, value in t.metrics.items() if value is None)
    for name in dict.fromkeys(bad):
        yield seen.finding(
            "metrics",
            f"metrics[{name!r}] is not a number: ART counts the episode as failed, and "
            "model.log raises",
            "put text into metadata or logs instead",
            reads("metrics"),
        )
