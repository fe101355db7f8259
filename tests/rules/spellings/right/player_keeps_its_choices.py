import art


class Player:
    def __init__(self, model: art.TrainableModel):
        self.model = model
        self.history = [{"role": "system", "content": "Solve the puzzle."}]

    async def run(self, puzzle: dict) -> art.Trajectory:
        text = ""
        for clue in puzzle["clues"]:
            self.history.append({"role": "user", "content": clue})
            response = await self.model.openai_client().chat.completions.create(
                model=self.model.get_inference_name(), messages=self.history
            )
            text = response.choices[0].message.content or ""
            self.history.append(response.choices[0])
        return art.Trajectory(
            messages_and_choices=self.history, reward=float(puzzle["answer"] in text)
        )


async def play(model: art.TrainableModel, puzzle: dict) -> art.Trajectory:
    return await Player(model).run(puzzle)


async def step(model: art.TrainableModel, backend: art.Backend, puzzles: list[dict]) -> None:
    groups = await art.gather_trajectory_groups(
        (art.TrajectoryGroup(play(model, puzzle) for _ in range(8)) for puzzle in puzzles),
        max_exceptions=8,
    )
    await backend.train(model, groups, learning_rate=5e-6)
