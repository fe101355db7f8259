"""What ART's PipelineTrainer needs that differs between ART 0.5.18 and 0.5.23."""

from __future__ import annotations

import importlib
from typing import Any

import art

from art_adapt.training.histories import choices_of, histories_of


def pipeline_sizes(*, workers: int, groups_per_step: int) -> dict[str, Any]:
    """Return PipelineTrainer's arguments that say how much it does at once."""
    from art import pipeline_trainer

    # ART would take up to ten times as many groups in a step, if there are.
    sizes: dict[str, Any] = {
        "num_rollout_workers": workers,
        "min_batch_size": groups_per_step,
        "max_batch_size": groups_per_step,
    }
    if hasattr(pipeline_trainer, "PipelineRuntimeConfig"):  # art 0.5.23
        return {"pipeline": pipeline_trainer.PipelineRuntimeConfig(**sizes)}
    return sizes


def name_policies(group: art.TrajectoryGroup) -> art.TrajectoryGroup:
    """Say for each choice which policy sampled how many tokens.

    PipelineTrainer of ART 0.5.23 asks. ART's own client says it where vLLM does not.
    """
    try:
        spans: Any = importlib.import_module("art.preprocessing.policy_spans")
    except ModuleNotFoundError:  # art 0.5.18 does not ask
        return group
    for trajectory in group.trajectories:
        histories = histories_of(trajectory)
        choices = [choice for history in histories for choice in choices_of(history)]
        total = sum(len(choice.model_extra["token_ids"]) for choice in choices)
        trajectory.metrics["completion_tokens"] = total
        for choice in choices:
            if "policy_token_spans" not in choice.model_extra:
                spans.attach_static_policy_token_span_to_choice(
                    choice=choice,
                    model_name=str(trajectory.metadata["policy"]),
                    prompt_tokens=len(choice.model_extra["prompt_token_ids"]),
                    completion_tokens=len(choice.model_extra["token_ids"]),
                )
    return group
