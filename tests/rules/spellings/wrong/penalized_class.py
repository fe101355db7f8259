import art


class Rollout:
    def __init__(self, model: art.TrainableModel):
        self.model = model
        self.trajectory = art.Trajectory(messages_and_choices=[])

    async def run(self, game) -> art.Trajectory:
        while not game.finished:
            self.trajectory.messages_and_choices.append({"role": "user", "content": game.view()})
            response = await self.model.openai_client().chat.completions.create(
                model=self.model.get_inference_name(), messages=self.trajectory.messages()
            )
            choice = response.choices[0]
            if not game.allows(choice.message.content):
                self.trajectory.reward = -1.0
                return self.trajectory  # <- ART218
            self.trajectory.messages_and_choices.append(choice)
            game.apply(choice.message.content)
        self.trajectory.reward = game.score
        return self.trajectory
