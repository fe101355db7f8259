import art


class Episode:
    def __init__(self, model: art.TrainableModel, task):
        self.model = model
        self.task = task
        self.messages = [{"role": "user", "content": task.text}]
        self.trajectory = art.Trajectory(messages_and_choices=self.messages)

    async def turn(self):
        completion = await self.model.openai_client().chat.completions.create(
            model=self.model.get_inference_name(), messages=self.messages
        )
        self.messages.append(completion.choices[0])  # <- ART211
        return completion.choices[0].message.content

    async def run(self):
        self.trajectory.reward = self.task.score(await self.turn())
        return self.trajectory
