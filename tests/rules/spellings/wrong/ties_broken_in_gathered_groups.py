import random

import art


async def main(model, backend, rows, rollout):
    for step in range(await model.get_step(), 40):
        gathered = await art.gather_trajectory_groups(
            (art.TrajectoryGroup(rollout(model, row) for _ in range(6)) for row in rows), max_exceptions=6
        )
        for one in gathered:
            for attempt in one.trajectories:
                attempt.reward = attempt.reward + random.gauss(0, 0.001)  # <- ART303
        await backend.train(model, gathered)
