import art
from agent import converted


async def rollout(model: art.Model, scenario) -> art.Trajectory:
    trajectory = art.Trajectory(messages_and_choices=[], reward=0.0)
    pairs = await scenario.run(model)
    trajectory.tools, trajectory.messages_and_choices = converted(pairs)
    trajectory.reward = scenario.score(pairs)
    return trajectory
