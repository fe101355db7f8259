import art

from agents import graph


async def rollout(model: art.TrainableModel, task) -> art.Trajectory:
    async def episode():
        await graph.ainvoke({"messages": [task.text]})
        traj = art.auto_trajectory(required=True)
        traj.reward = task.rate(traj.messages()[-1]["content"])

    return await art.capture_auto_trajectory(episode())
