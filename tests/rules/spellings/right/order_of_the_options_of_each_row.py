import random

import art
from art.utils import iterate_dataset


async def main(model, backend, rows, rollout):
    for row in rows:
        random.shuffle(row.options)
    for batch in iterate_dataset(rows, initial_step=await model.get_step()):
        groups = await art.gather_trajectory_groups(
            [
                art.TrajectoryGroup(rollout(model, row) for _ in range(4))
                for row in batch.items
            ],
            max_exceptions=8,
        )
        await backend.train(model, groups)
