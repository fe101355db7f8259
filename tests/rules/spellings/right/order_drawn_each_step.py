import random

import art


async def main(model, backend, rows, rollout):
    for step in range(await model.get_step(), 100):
        pool = list(rows)
        random.shuffle(pool)
        groups = await art.gather_trajectory_groups(
[            art.TrajectoryGroup(rollout(model, row) for _ in range(4)) for row in pool[:4]
], max_exceptions=8
        )
        await backend.train(model, groups)
