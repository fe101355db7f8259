import art, copy, json, re, asyncio
from art.rewards import ruler_score_group
async def rank(model: art.TrainableModel, group):
    return await ruler_score_group(group, f"hosted_vllm/{model.base_model}")
