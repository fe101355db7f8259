import random

import art
from art.utils import iterate_dataset


class Viewer:
    def __init__(self, rows):
        self.rows = list(rows)
        random.shuffle(self.rows)


class Trainer:
    def __init__(self, rows):
        self.rows = list(rows)

    async def run(self, model, backend, rollout):
        first = await model.get_step()
        for start in range(first * 8, len(self.rows), 8):
            groups = await art.gather_trajectory_groups(
                [
                    art.TrajectoryGroup(rollout(model, row) for _ in range(4))
                    for row in self.rows[start : start + 8]
                ],
                max_exceptions=8,
            )
            await backend.train(model, groups)
