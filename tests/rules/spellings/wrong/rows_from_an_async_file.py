import json

import art


def read(path):
    with open(path) as file:
        for line in file:
            yield json.loads(line)


async def learn(model, backend, rollout):
    for row in read("rows.jsonl"):  # <- ART509
        groups = await art.gather_trajectory_groups(
            [art.TrajectoryGroup(rollout(model, row) for _ in range(8))], max_exceptions=4
        )
        await backend.train(model, groups)
