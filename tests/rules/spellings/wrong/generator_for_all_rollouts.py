import asyncio
import random

import art


class Trainer:
    def __init__(self, model: art.TrainableModel, backend, seed: int):
        self.model, self.backend = model, backend
        self.rng = random.Random(seed)

    async def rollout(self, rng: random.Random) -> art.Trajectory:
        word = rng.choice(WORDS)
        asked = {"role": "user", "content": f"Explain the word {word}."}
        trajectory = art.Trajectory(messages_and_choices=[asked])
        reply = await self.model.openai_client().chat.completions.create(
            model=self.model.get_inference_name(), messages=trajectory.messages()
        )
        trajectory.messages_and_choices.append(reply.choices[0])
        trajectory.reward = float(word in reply.choices[0].message.content)
        return trajectory

    async def step(self) -> None:
        rng = random.Random(7)
        groups = await art.gather_trajectory_groups(
            [
                art.TrajectoryGroup([self.rollout(rng) for _ in range(6)])  # <- ART502
                for _ in range(4)
            ],
            max_exceptions=6,
        )
        await self.backend.train(self.model, groups)
