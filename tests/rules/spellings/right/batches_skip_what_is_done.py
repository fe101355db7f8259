import art


def chunks(rows, size, done):
    for at in range(0, len(rows), size):
        if at // size < done:
            continue
        yield rows[at : at + size]


async def learn(model, backend, rows, rollout, done):
    for batch in chunks(rows, 4, done):
        groups = await art.gather_trajectory_groups(
            (art.TrajectoryGroup(rollout(model, row) for _ in range(8)) for row in batch), max_exceptions=4
        )
        await backend.train(model, groups)
