import asyncio

import art


class Game:
    def __init__(self, model) -> None:
        self.model = model
        self.trajectory = art.Trajectory(messages_and_choices=[{"role": "user", "content": "move"}])

    async def run(self) -> list[art.Trajectory]:
        reply = await self.model.openai_client().chat.completions.create(
            model=self.model.get_inference_name(), messages=self.trajectory.messages(), max_tokens=9
        )
        self.trajectory.messages_and_choices.append(reply.choices[0])
        self.trajectory.reward = score(reply)
        return [self.trajectory]


async def group(model) -> art.TrajectoryGroup:
    played = await asyncio.gather(*(Game(model).run() for _ in range(8)))  # <- ART530
    return art.TrajectoryGroup([t for each in played for t in each])


async def train(model: art.TrainableModel, backend) -> None:
    for step in range(await model.get_step(), 40):
        groups = await art.gather_trajectory_groups([group(model)], max_exceptions=1)
        await backend.train(model, groups)
