import art
from worlds import World


async def rollout(model: art.TrainableModel, world: World, goal: str) -> art.Trajectory:
    world.reset()  # <- ART220
    traj = art.Trajectory(messages_and_choices=[{"role": "user", "content": goal}])
    for _ in range(5):
        response = await model.openai_client().chat.completions.create(
            model=model.get_inference_name(), messages=traj.messages()
        )
        choice = response.choices[0]
        traj.messages_and_choices.append(choice)
        traj.messages_and_choices.append(
            {"role": "user", "content": world.act(choice.message.content or "")}
        )
    traj.reward = world.score()
    return traj


async def train(model: art.TrainableModel, backend, goals):
    for step in range(await model.get_step(), 40):
        world = World()
        groups = await art.gather_trajectory_groups(
            [art.TrajectoryGroup([rollout(model, world, g) for _ in range(6)]) for g in goals],
            max_exceptions=3,
        )
        await backend.train(model, groups, learning_rate=1e-5)
