import art

async def rollout(model: art.TrainableModel, item: dict) -> art.Trajectory:
    trajectory = art.Trajectory(
        messages_and_choices=[{"role": "user", "content": item["question"]}]
    )
    response = await model.openai_client().chat.completions.create(
        model=model.get_inference_name(), messages=trajectory.messages(), max_tokens=64
    )
    trajectory.messages_and_choices.append(response.choices[0])
    trajectory.reward = grade(response.choices[0], item)
    return trajectory


class Trainer:
    def __init__(self, model: art.TrainableModel, backend, items) -> None:
        self.model = model
        self.backend = backend
        self.items = items
        self.step = 0

    async def fit(self) -> None:
        while self.step < 40:  # <- ART509
            groups = await art.gather_trajectory_groups(
                [art.TrajectoryGroup(rollout(self.model, i) for _ in range(8)) for i in self.items],
                max_exceptions=32,
            )
            await self.backend.train(self.model, groups)
            self.step += 1
