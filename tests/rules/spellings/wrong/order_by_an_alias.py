from random import shuffle

import art
from art.utils import iterate_dataset

import data


async def main(model, backend, rollout):
    tasks = data.load()
    shuffle(tasks)  # <- ART538
    kept = tasks
    for batch in iterate_dataset(kept, initial_step=await model.get_step()):
        group = art.TrajectoryGroup(rollout(model, batch.items[0]) for _ in range(8))
        groups = await art.gather_trajectory_groups([group], max_exceptions=8)
        await backend.train(model, groups)
