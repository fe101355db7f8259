import art


class Desk:
    def __init__(self, model: art.TrainableModel):
        self.model = model
        self.history: list = []

    async def dialog(self, case) -> art.Trajectory:
        self.history = [{"role": "user", "content": case.text}]
        for _ in range(4):
            completion = await self.model.openai_client().chat.completions.create(
                model=self.model.get_inference_name(), messages=case.view(self.history)
            )
            self.history.append(completion.choices[0])
            self.history.append({"role": "user", "content": case.step(completion)})
        return art.Trajectory(messages_and_choices=self.history, reward=case.score())


async def step(model, backend, cases):
    desk = Desk(model)
    groups = []
    for case in cases:
        groups.append(art.TrajectoryGroup([await desk.dialog(case) for _ in range(6)]))
    await backend.train(model, groups)
