import logging

import art

log = logging.getLogger(__name__)


class Learner:
    def __init__(self, model, backend):
        self.model, self.backend = model, backend

    async def learn(self, groups):
        try:
            result = await self.backend.train(self.model, groups, learning_rate=1e-5)
        except BaseException:  # <- ART535
            log.exception("no update this time")
            return None
        return result.step

    async def forever(self, batches, play):
        async for batch in batches:
            groups = await art.gather_trajectory_groups(
                (art.TrajectoryGroup(play(self.model, row) for _ in range(8)) for row in batch), max_exceptions=8
            )
            await self.learn(groups)
