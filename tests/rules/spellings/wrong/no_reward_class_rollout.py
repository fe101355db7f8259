import art
from dataclasses import dataclass


@dataclass
class Coder:
    model: art.TrainableModel

    async def rollout(self, item: dict) -> art.Trajectory:
        traj = art.Trajectory(  # <- ART301
            messages_and_choices=[{"role": "user", "content": item["question"]}]
        )
        reply = await self.model.openai_client().chat.completions.create(
            model=self.model.get_inference_name(), messages=traj.messages(), max_tokens=9
        )
        traj.messages_and_choices.append(reply.choices[0])
        traj.metrics["reward"] = grade(reply, item)
        return traj.finish()


async def train(model: art.TrainableModel, backend, items) -> None:
    coder = Coder(model)
    for step in range(await model.get_step(), 40):
        groups = await art.gather_trajectory_groups(
            [art.TrajectoryGroup(coder.rollout(i) for _ in range(8)) for i in items], max_exceptions=8
        )
        await backend.train(model, groups)
