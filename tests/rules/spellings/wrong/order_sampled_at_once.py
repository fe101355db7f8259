import random

import art
from art.utils import iterate_dataset


async def main(model, backend, rows, rollout, size):
    chosen = random.sample(rows, size)  # <- ART538
    dataset = [row for row in chosen if row]
    for batch in iterate_dataset(
        dataset, groups_per_step=4, num_epochs=3, initial_step=await model.get_step()
    ):
        groups = await art.gather_trajectory_groups(
[            art.TrajectoryGroup(rollout(model, row) for _ in range(4)) for row in batch.items
], max_exceptions=8
        )
        await backend.train(model, groups)
