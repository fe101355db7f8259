import contextlib

import art


async def main(model, backend, rows, rollout):
    step = await model.get_step()
    while step < 40:
        groups = await art.gather_trajectory_groups(
            (art.TrajectoryGroup(rollout(model, row) for _ in range(6)) for row in rows), max_exceptions=6
        )
        with contextlib.suppress(Exception):  # <- ART535
            await backend.train(model, groups)
        step += 1
