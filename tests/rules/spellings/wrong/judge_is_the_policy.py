import art
from art.rewards import ruler_score_group
async def rank(model: art.TrainableModel, group: art.TrajectoryGroup):
    params = {"base_url": model.inference_base_url, "api_key": model.inference_api_key}
    return await ruler_score_group(group, judge_model=f"hosted_vllm/{model.get_inference_name()}",  # <- ART319
                                   extra_litellm_params=params, swallow_exceptions=True)
