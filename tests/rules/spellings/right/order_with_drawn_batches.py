import random

import art
from art.utils import iterate_dataset


async def main(model, backend, rows, rollout):
    random.shuffle(rows)
    print(rows[0])
    for step in range(await model.get_step(), 100):
        groups = await art.gather_trajectory_groups(
            [
                art.TrajectoryGroup(rollout(model, row) for _ in range(4))
                for row in random.sample(rows, 4)
            ],
            max_exceptions=8,
        )
        await backend.train(model, groups)
