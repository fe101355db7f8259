import art


def chunks(rows, size):
    for at in range(0, len(rows), size):
        yield rows[at : at + size]


async def learn(model, backend, rows, rollout):
    for step, batch in enumerate(chunks(rows, 4)):  # <- ART509
        groups = await art.gather_trajectory_groups(
            (art.TrajectoryGroup(rollout(model, row) for _ in range(8)) for row in batch), max_exceptions=4
        )
        print(step)
        await backend.train(model, groups)
