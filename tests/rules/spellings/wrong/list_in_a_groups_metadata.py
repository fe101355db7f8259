import art

from desk import rollout


async def step(model: art.TrainableModel, backend, tasks):
    groups = await art.gather_trajectory_groups(
        (
            art.TrajectoryGroup(
                (rollout(model, task) for _ in range(6)),
                metadata={"task": task.id, "tags": sorted(task.tags)},  # <- ART307
            )
            for task in tasks
        ),
        max_exceptions=6 * len(tasks),
    )
    await backend.train(model, groups)
