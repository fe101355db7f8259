import art, copy, json, re, asyncio
from pydantic import BaseModel
class Verdict(BaseModel):
    grade: str
    score: float
def number(text: str):
    return {"a": 1.0}.get(text, 0.0)
async def rollout(client, model, messages, verdict: Verdict, weight: str = "1"):
    trajectory = art.Trajectory(messages_and_choices=messages)
    weight = float(weight)
    trajectory.reward = verdict.score * weight
    trajectory.metrics["g"] = number(verdict.grade)
    trajectory.metrics["w"] = weight
    return trajectory
