import art


async def train_once(model, backend, groups):
    for attempt in range(5):
        try:
            return await backend.train(model, groups)
        except Exception as error:  # <- ART535
            print("attempt", attempt, error)


async def main(model, backend, rows, rollout):
    for step in range(await model.get_step(), 40):
        groups = await art.gather_trajectory_groups(
            (art.TrajectoryGroup(rollout(model, row) for _ in range(6)) for row in rows), max_exceptions=6
        )
        await train_once(model, backend, groups)
