import json
import random

import art


def split(path, held_out):
    with open(path) as file:
        rows = [json.loads(line) for line in file]
    random.shuffle(rows)  # <- ART538
    return rows[held_out:], rows[:held_out]


async def main(model, backend, rollout):
    training, validation = split("rows.jsonl", 50)
    state = model.read_state() or {}
    for step in range(state.get("step", 0), 200):
        groups = await art.gather_trajectory_groups(
[            art.TrajectoryGroup(rollout(model, row) for _ in range(8))
            for row in training[step * 4 : (step + 1) * 4]
], max_exceptions=8
        )
        await backend.train(model, groups)
        model.merge_state({"step": step + 1})
