import art, asyncio
async def evaluate(model, rows):
    done = await asyncio.gather(*[rollout(model, row) for row in rows])
    return sum(t.reward for t in done) / len(done)
async def rollout(model, scenario, baseline=0.0):
    trajectory = art.Trajectory(messages_and_choices=[scenario], reward=rate(scenario))
    return trajectory
async def main(model, backend, rows, val):
    for step in range(await model.get_step(), 50):
        groups = await art.gather_trajectory_groups(
            (art.TrajectoryGroup(rollout(model, r) for _ in range(8)) for r in rows), max_exceptions=8)
        await backend.train(model, groups)
async def show(model, backend, rows):
    groups = await art.gather_trajectory_groups([], max_exceptions=1)
    baseline = sum(t.reward for g in groups for t in g.trajectories) / 8
    again = art.TrajectoryGroup([await rollout(model, rows[0], baseline) for _ in range(4)])
    return again
