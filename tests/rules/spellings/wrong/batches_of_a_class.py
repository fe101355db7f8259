import art


class Dataset:
    def __init__(self, rows):
        self.rows = rows

    def batches(self, size):
        for at in range(0, len(self.rows), size):
            yield self.rows[at : at + size]


async def learn(model, backend, rows, rollout):
    dataset = Dataset(rows)
    for batch in dataset.batches(4):  # <- ART509
        groups = await art.gather_trajectory_groups(
            (art.TrajectoryGroup(rollout(model, row) for _ in range(8)) for row in batch), max_exceptions=4
        )
        await backend.train(model, groups)
