import art


async def play(model, game):
    lost = art.Trajectory(messages_and_choices=[{"role": "system", "content": game.prompt}], reward=0.0)
    won = art.Trajectory(messages_and_choices=[{"role": "system", "content": game.prompt}], reward=1.0)
    return won if await game.run(model) else lost


async def match(model, game) -> art.TrajectoryGroup:
    return art.TrajectoryGroup([await play(model, game) for _ in range(4)])


async def evaluate(model: art.TrainableModel, backend, game) -> None:
    await backend.train(model, [await match(model, game)])
