import asyncio

import art
from art.rewards import ruler_score_group
from art.utils import iterate_dataset

from linkedin import rollout

JUDGE = "openai/gpt-5.4"
K = 6


async def train(model: art.TrainableModel, backend, topics: list[str]) -> None:
    for batch in iterate_dataset(topics, groups_per_step=2, initial_step=await model.get_step()):
        groups = await art.gather_trajectory_groups(
            (art.TrajectoryGroup(rollout(model, topic) for _ in range(K)) for topic in batch.items),
            max_exceptions=K * len(batch.items),
        )
        await asyncio.gather(*[ruler_score_group(g, JUDGE) for g in groups])  # <- ART504 # <- ART532
        result = await backend.train(model, groups, learning_rate=1e-5)
        await model.log(groups, metrics=result.metrics, step=result.step, split="train")
