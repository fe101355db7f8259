import art, copy, json, re, asyncio
from art.pipeline_trainer import PipelineTrainer

from rollouts import build
async def solve(model, scenario, config):
    trajectory_group = await build(model, scenario)
    return trajectory_group
async def solve2(model, scenario, config):
    trajectory = await build(model, scenario)
    return trajectory
async def train(model, backend, rows):
    await PipelineTrainer(model, backend, solve, rows, None).train()
