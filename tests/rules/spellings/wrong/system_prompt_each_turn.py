import art


class Player:
    def __init__(self, model: art.TrainableModel, game):
        self.model = model
        self.game = game
        self.traj = art.Trajectory(messages_and_choices=[{"role": "system", "content": game.rules}])

    def prompt(self) -> list:
        system = {"role": "system", "content": f"{self.game.rules} {self.game.board}"}
        return [system, *self.traj.messages()[1:]]

    async def play(self) -> art.Trajectory:
        while not self.game.over:
            completion = await self.model.openai_client().chat.completions.create(
                model=self.model.get_inference_name(), messages=self.prompt()  # <- ART203
            )
            self.traj.messages_and_choices.append(completion.choices[0])
            self.traj.messages_and_choices.append({"role": "user", "content": self.game.step(completion)})
        self.traj.reward = self.game.score()
        return self.traj
