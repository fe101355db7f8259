import art, copy, json, re, asyncio
from lib import engine
async def rollout(client, model, messages, query):
    trajectory = art.Trajectory(messages_and_choices=messages)
    hit = engine.search(query)
    trajectory.reward = hit[1]
    best = model.match(query)
    trajectory.metrics["b"] = best["score"]
    return trajectory
class Games:
    def __init__(self, engine): self.engine = engine
    async def rollout(self, messages, query):
        trajectory = art.Trajectory(messages_and_choices=messages)
        hit = self.engine.search(query)
        trajectory.reward = hit[1]
        trajectory.metrics["b"] = hit.group(1)
        return trajectory
