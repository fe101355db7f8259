import art, copy, json, re, asyncio
from art.pipeline_trainer import PipelineTrainer

def grouped(rollout):
    async def group(model, scenario, config):
        return art.TrajectoryGroup([await rollout(model, scenario, config) for _ in range(8)])
    return group
@grouped
async def solve(model, scenario, config) -> art.Trajectory:
    return art.Trajectory(messages_and_choices=[scenario], reward=score(scenario))
async def train(model, backend, rows):
    await PipelineTrainer(model, backend, solve, rows, None).train()
