import art
from shop import Shop


class Trainer:
    def __init__(self, model: art.TrainableModel):
        self.model = model
        self.shop = Shop()

    async def rollout(self, task) -> art.Trajectory:
        page = self.shop.reset(task)  # <- ART220
        traj = art.Trajectory(messages_and_choices=[{"role": "user", "content": page}])
        for _ in range(9):
            response = await self.model.openai_client().chat.completions.create(
                model=self.model.get_inference_name(), messages=traj.messages()
            )
            traj.messages_and_choices.append(response.choices[0])
            page, done = self.shop.step(response.choices[0].message.content)
            traj.messages_and_choices.append({"role": "user", "content": page})
            if done:
                break
        traj.reward = self.shop.reward()
        return traj

    async def groups(self, tasks):
        return await art.gather_trajectory_groups(
            [art.TrajectoryGroup([self.rollout(task) for _ in range(8)]) for task in tasks]
        )
