import art

from desk import rollout


def about(task) -> dict:
    return {"task": task.id, "options": [o.name for o in task.options]}


def group(model: art.TrainableModel, task) -> art.TrajectoryGroup:
    return art.TrajectoryGroup(
        (rollout(model, task) for _ in range(6)),
        metadata=about(task),  # <- ART307
    )


async def step(model: art.TrainableModel, backend, tasks):
    groups = await art.gather_trajectory_groups(
        (group(model, task) for task in tasks), max_exceptions=6 * len(tasks)
    )
    await backend.train(model, groups)
