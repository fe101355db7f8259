from dataclasses import dataclass

import art
from art.local import LocalBackend


@dataclass
class Settings:
    name: str
    temperature: float = 1.0


class Player:
    def __init__(self, client, settings: Settings):
        self.client, self.settings = client, settings

    async def say(self, messages: list):
        reply = await self.client.chat.completions.create(
            model=self.settings.name,
            messages=messages,
            temperature=self.settings.temperature,
        )
        return reply.choices[0]


async def rollout(player: Player, task: dict) -> art.Trajectory:
    trajectory = art.Trajectory(messages_and_choices=[{"role": "user", "content": task["text"]}])
    choice = await player.say(trajectory.messages())
    trajectory.messages_and_choices.append(choice)
    trajectory.reward = float(choice.message.content == task["answer"])
    return trajectory


async def main(tasks: list[dict]) -> None:
    model = art.TrainableModel(name="m", project="p", base_model="Qwen/Qwen2.5-7B-Instruct")
    async with LocalBackend() as backend:
        await model.register(backend)
        settings = Settings(model.get_inference_name())  # <- ART511
        player = Player(model.openai_client(), settings)
        for step in range(await model.get_step(), 20):
            groups = await art.gather_trajectory_groups(
                (art.TrajectoryGroup(rollout(player, task) for _ in range(6)) for task in tasks),
                max_exceptions=6,
            )
            result = await backend.train(model, groups)
            await model.log(groups, metrics=result.metrics, step=result.step, split="train")
