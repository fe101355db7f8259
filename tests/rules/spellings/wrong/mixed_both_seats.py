import art


async def play(model, game):
    white = art.Trajectory(messages_and_choices=[{"role": "system", "content": "You play white."}])
    black = art.Trajectory(messages_and_choices=[{"role": "system", "content": "You play black."}])
    await game.run(model, white, black)
    white.reward, black.reward = game.score("white"), game.score("black")
    return [white, black]


async def match(model, game) -> art.TrajectoryGroup:
    made = []
    for _ in range(4):
        made.extend(await play(model, game))
    return art.TrajectoryGroup(made)  # <- ART502


async def train(model: art.TrainableModel, backend, game) -> None:
    for step in range(await model.get_step(), 40):
        groups = await art.gather_trajectory_groups([match(model, game)], max_exceptions=4)
        await backend.train(model, groups)
