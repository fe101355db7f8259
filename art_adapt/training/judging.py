"""Lets RULER judge whole episodes: all histories, the answer, and how they ended."""

from __future__ import annotations

import asyncio
import json
import os
import random
from collections.abc import Awaitable, Callable, Iterator, Sequence
from typing import Any

import art
import litellm
from art.rewards import ruler as art_ruler
from art.rewards.ruler import DEFAULT_RUBRIC
from art.utils.retry import retry

from art_adapt.recording.state import judging
from art_adapt.training.groups import UNJUDGED
from art_adapt.training.histories import histories_of, messages_of, named_histories
from art_adapt.training.time_limits import within

Judge = Callable[[art.TrajectoryGroup], Awaitable[art.TrajectoryGroup]]
ATTEMPTS = 4  # of judging a group
PATIENCE = 600.0  # seconds for all of them
MOST_SAID = 400  # characters of a judge's error
PAUSE = 0.5  # seconds before the second one, then three times as long each
ENDINGS = {
    "timed_out": "The episode was stopped here because it ran out of time.",
    "truncated": "A completion of this episode was cut off because it was too long.",
    "failed": "The agent stopped here with an error.",
}

litellm.suppress_debug_info = True  # a line for each call of a model without a price


def ruler(judge_model: str, weight: float | None = None, **options: Any) -> Judge:
    """Return the ``after_each`` that lets RULER compare the episodes of a group.

    The judge sees them in random order, and each of them whole: every history with its
    name, the tools of all, the final answer, and whether a limit or an error ended it.
    With ``weight`` the reward is that share of RULER's score, and for the rest what it
    was before; RULER's score alone is the metric ``ruler``. A scenario's ``rubric`` and ``reference`` (an
    answer that deserves 1.0), further keys of its row, are shown to the judge: they make
    scores comparable between groups and steps.

    A group that cannot be judged, four times in a row, keeps its episodes and says why
    in its metadata; ``usable`` leaves it out. ``options`` go to ART's ``ruler``, for
    example a ``rubric``.
    """
    # Judges prefer places, and ART gives the episodes in the order in which they ended.
    places = random.Random(0)
    common = options.pop("rubric", DEFAULT_RUBRIC)
    endpoint = _endpoint_of(judge_model)

    async def judge(group: art.TrajectoryGroup) -> art.TrajectoryGroup:
        if not group.trajectories:
            return group
        scenario = getattr(group.trajectories[0], "scenario", None)
        rubric = "\n".join([common, *_about(scenario)])
        try:
            shown = places.sample(group.trajectories, len(group.trajectories))
            given = {**endpoint, **(options.get("extra_litellm_params") or {})}
            how = {**options, "extra_litellm_params": given}
            asked = _scores(shown, judge_model, rubric=rubric, **how)
            with judging():
                scores = await within(PATIENCE, asked)
        except Exception as error:  # the judge's client is LiteLLM's choice
            group.metadata[UNJUDGED] = f"RULER could not judge this group: {error!r}"
            return group
        for trajectory, judged in zip(shown, scores, strict=True):
            if weight is None:
                trajectory.reward = judged.score
            else:
                trajectory.metrics["ruler"] = judged.score
                own = (1 - weight) * trajectory.reward
                trajectory.reward = own + weight * judged.score
            trajectory.log(f"RULER: {judged.explanation}")
        return group

    judge.options = {"judge_model": judge_model, **options}  # type: ignore[attr-defined]
    return judge


def _endpoint_of(judge_model: str) -> dict[str, object]:
    """Return the key and the address of an OpenAI judge as they are before any episode.

    Agents write the key that they are given into the environment, and in a rollout that is
    the key of the model in training. Empty where LiteLLM itself was told.
    """
    key = os.environ.get("OPENAI_API_KEY")
    told = litellm.api_key or litellm.openai_key or litellm.api_base
    if not key or told or not _is_openai(judge_model):
        return {}
    base = os.environ.get("OPENAI_BASE_URL") or os.environ.get("OPENAI_API_BASE")
    return {"api_key": key, "api_base": base or "https://api.openai.com/v1"}


def _is_openai(model: str) -> bool:
    try:
        return bool(litellm.get_llm_provider(model)[1] == "openai")
    except Exception:  # LiteLLM's, for a model that it does not know
        return False


def try_judge(judge_model: str, judge: Any = None) -> str | None:
    """Ask RULER's judge about two short episodes; say why it gives no scores, if so.

    A name or a key that is wrong would be noticed after the first episodes. ``judge``: what
    ``ruler`` has returned, whose options hold here as well.
    """
    shown: Any = [
        [{"role": "user", "content": "2 + 2?"}, {"role": "assistant", "content": said}]
        for said in ("4", "5")
    ]
    try:
        options = {"judge_model": judge_model, **getattr(judge, "options", {})}
        asyncio.run(within(PATIENCE, _ask(shown, **options)))
    except Exception as error:  # the judge's client is LiteLLM's choice
        why = f"RULER's judge, {judge_model}, gave no scores: {str(error)[:MOST_SAID]}"
        missing = keys_missing(judge_model)
        return f"{why}\nNot set: {', '.join(missing)}" if missing else why
    return None


def keys_missing(model: str) -> list[str]:
    """Return the variables that LiteLLM may want for a model's provider, and that are not set.

    Of some providers one of them is enough; others can be reached without any.
    """
    missing: list[str] = litellm.validate_environment(model)["missing_keys"]
    return missing


async def _ask(episodes: Sequence[list[Any]], **options: Any) -> list[Any]:
    """Return a score for each episode, in their order; ask again if there is none.

    ``ruler_score_group`` rebuilds trajectories, drops their answers and refuses further
    histories (art 0.5.18 and 0.5.23, rewards/ruler.py).
    """
    again = retry(max_attempts=ATTEMPTS, delay=PAUSE, backoff_factor=3)
    return await again(_asked_once)(episodes, **options)


async def _asked_once(episodes: Sequence[list[Any]], **options: Any) -> list[Any]:
    scores = await art_ruler(list(episodes), **options)
    # ART takes them by position; the judge may have answered in another order.
    by_id = {score.trajectory_id: score for score in scores}
    wanted = [str(n) for n in range(1, len(episodes) + 1)]
    if set(by_id) != set(wanted):
        raise ValueError(f"the judge scored the episodes {sorted(by_id)}, not {wanted}")
    return [by_id[each] for each in wanted]


async def _scores(
    episodes: Sequence[art.Trajectory], judge_model: str, **options: Any
) -> list[Any]:
    """Return a score for each episode, in their order."""
    return await _ask(
        [list(_as_judged(trajectory)) for trajectory in episodes],
        judge_model=judge_model,
        tools=_tools(episodes),
        **options,
    )


def _as_judged(trajectory: art.Trajectory) -> Iterator[Any]:
    """Yield an episode as the messages that the judge reads."""
    said: Any = None
    for name, history in named_histories(trajectory):
        if trajectory.additional_histories:
            yield {"role": "conversation", "name": name}
        for message in messages_of(history):
            said = message.get("content")
            yield message
    answer = getattr(trajectory, "final_answer", None)
    if answer is not None and str(answer) != str(said):
        yield {"role": "final_answer", "content": str(answer)}
    for metric, ending in ENDINGS.items():
        if trajectory.metrics.get(metric):
            yield {"role": "note", "content": ending}


def _tools(trajectories: Sequence[art.Trajectory]) -> Any:
    """Return the tools of all histories of all episodes, each once."""
    every = (
        tool
        for trajectory in trajectories
        for history in histories_of(trajectory)
        for tool in history.tools or ()
    )
    return list({json.dumps(tool, sort_keys=True): tool for tool in every}.values())


def _about(scenario: Any) -> Iterator[str]:
    """Yield what a scenario says to its judge."""
    if rubric := getattr(scenario, "rubric", None):
        yield f"For this task in particular: {rubric}"
    if (reference := getattr(scenario, "reference", None)) is not None:
        yield f"An answer that deserves a score of 1.0: {reference}"
