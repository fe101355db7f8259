import art


class Desk:
    def __init__(self, model: art.TrainableModel):
        self.model = model
        self.seen: list = []

    async def dialog(self, case) -> art.Trajectory:
        prompt = [{"role": "user", "content": case.text}]
        completion = await self.model.openai_client().chat.completions.create(
            model=self.model.get_inference_name(), messages=prompt
        )
        self.seen.append(case.id)
        choice = completion.choices[0]
        return art.Trajectory(messages_and_choices=[*prompt, choice], reward=case.rate(choice.message.content))


async def step(model, backend, cases):
    desk = Desk(model)
    groups = await art.gather_trajectory_groups(
        (art.TrajectoryGroup(desk.dialog(case) for _ in range(6)) for case in cases),
        max_exceptions=6 * len(cases),
    )
    await backend.train(model, groups)
