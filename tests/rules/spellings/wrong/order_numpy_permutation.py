import art
import numpy as np
from art.utils import iterate_dataset


async def main(model, backend, rows, rollout):
    order = np.random.permutation(len(rows))  # <- ART538
    training = [rows[i] for i in order[100:]]
    done = await model.get_step()
    for batch in iterate_dataset(training, groups_per_step=2, initial_step=done):
        groups = await art.gather_trajectory_groups(
[            art.TrajectoryGroup(rollout(model, row) for _ in range(4)) for row in batch.items
], max_exceptions=8
        )
        await backend.train(model, groups)
