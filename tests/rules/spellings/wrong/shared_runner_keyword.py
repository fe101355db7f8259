import art


class Session:
    def __init__(self, model: art.TrainableModel):
        self.model = model
        self.turns: list = []

    async def say(self, text: str):
        self.turns.append({"role": "user", "content": text})  # <- ART205
        completion = await self.model.openai_client().chat.completions.create(
            model=self.model.get_inference_name(), messages=self.turns
        )
        self.turns.append(completion.choices[0])
        return completion.choices[0].message.content


async def rollout(session: Session, task) -> art.Trajectory:
    answer = await session.say(task.text)
    return art.Trajectory(messages_and_choices=session.turns, reward=task.rate(answer))


async def step(model, backend, tasks):
    session = Session(model)
    groups = await art.gather_trajectory_groups(
        (art.TrajectoryGroup(rollout(session, task) for _ in range(6)) for task in tasks),
        max_exceptions=6 * len(tasks),
    )
    await backend.train(model, groups)
