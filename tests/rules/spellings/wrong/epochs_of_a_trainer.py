import art


class Trainer:
    async def _update(self, rows):
        groups = await art.gather_trajectory_groups(
            (art.TrajectoryGroup(self.play(row) for _ in range(6)) for row in rows), max_exceptions=6
        )
        await self.backend.train(self.model, groups)

    async def fit(self, rows, epochs):
        for epoch in range(epochs):  # <- ART509
            await self._update(rows)
