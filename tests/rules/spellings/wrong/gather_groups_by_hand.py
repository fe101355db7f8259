import asyncio

import art


class Trainer:
    async def group(self, scenario) -> art.TrajectoryGroup:
        return await self.judge(art.TrajectoryGroup([await self.run(scenario), await self.run(scenario)]))

    async def step(self, scenarios):
        groups = await asyncio.gather(*[self.group(each) for each in scenarios])  # <- ART530
        await self.backend.train(self.model, groups)

    async def train(self, batches):
        for batch in batches:
            await self.step(batch)
