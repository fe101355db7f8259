import art


async def export(model: art.TrainableModel) -> str:
    step = await model.get_step()
    return f"./.art/{model.project}/models/{model.name}/checkpoints/{step}/adapter"  # <- ART551
