import art


async def run(model, backend, rows, rollout):
    for batch in art.utils.iterate_dataset(rows, groups_per_step=4, initial_step=await model.get_step()):
        groups = await art.gather_trajectory_groups(
            (art.TrajectoryGroup(rollout(model, row) for _ in range(6)) for row in batch.items), max_exceptions=6
        )
        await backend.train(model, groups)


async def main(backend, rows, rollout):
    for number in range(3):
        model = art.TrainableModel(name=f"agent-{number}", project="sweep", base_model="Qwen/Qwen3-4B")
        await model.register(backend)
        await run(model, backend, rows, rollout)
