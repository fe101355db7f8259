import asyncio

import art


class Episode:
    def __init__(self, model, item) -> None:
        self.model, self.item = model, item
        self.log = art.Trajectory(messages_and_choices=[{"role": "user", "content": item["q"]}])

    async def finish(self) -> art.Trajectory:
        reply = await self.model.openai_client().chat.completions.create(
            model=self.model.get_inference_name(), messages=self.log.messages(), max_tokens=9
        )
        self.log.messages_and_choices.append(reply.choices[0])
        self.log.reward = score(reply)
        return self.log


async def group(model, item) -> art.TrajectoryGroup:
    episodes = [Episode(model, item) for _ in range(8)]
    done = await asyncio.gather(*[one.finish() for one in episodes])  # <- ART530
    return art.TrajectoryGroup(done)


async def train(model: art.TrainableModel, backend, items) -> None:
    for step in range(await model.get_step(), 40):
        groups = await art.gather_trajectory_groups([group(model, i) for i in items], max_exceptions=1)
        await backend.train(model, groups)
