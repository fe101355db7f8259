import art


class Chat:
    def __init__(self, rules: str):
        self.lines = [{"role": "system", "content": rules}]

    def hears(self, text: str) -> None:
        self.lines.append({"role": "user", "content": text})

    def says(self, completion) -> str:
        self.lines.append({"role": "assistant", "content": completion.choices[0].message.content})
        return completion.id



async def play(model: art.TrainableModel, puzzle: dict) -> art.Trajectory:
    chat = Chat("Solve the puzzle.")
    for clue in puzzle["clues"]:
        chat.hears(clue)
        response = await model.openai_client().chat.completions.create(
            model=model.get_inference_name(), messages=chat.lines
        )
        chat.says(response)  # <- ART202
    return art.Trajectory(
        messages_and_choices=chat.lines,
        reward=float(puzzle["answer"] in str(chat.lines[-1])),
    )


async def step(model: art.TrainableModel, backend: art.Backend, puzzles: list[dict]) -> None:
    groups = await art.gather_trajectory_groups(
        (art.TrajectoryGroup(play(model, puzzle) for _ in range(8)) for puzzle in puzzles),
        max_exceptions=8,
    )
    await backend.train(model, groups, learning_rate=5e-6)
