import art


async def update(model, backend, groups):
    try:
        await backend.train(model, groups)
        return True
    except Exception as error:
        print("training failed", error)
        return False


async def main(model, backend, rows, rollout):
    for step in range(await model.get_step(), 40):
        groups = await art.gather_trajectory_groups(
            (art.TrajectoryGroup(rollout(model, row) for _ in range(6)) for row in rows), max_exceptions=6
        )
        if not await update(model, backend, groups):
            break
