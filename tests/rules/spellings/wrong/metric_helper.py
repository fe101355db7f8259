import art


def shown(metrics: dict[str, float]) -> str:
    return f"loss {metrics['loss']:.3f}"  # <- ART554


async def step(model: art.TrainableModel, backend, groups) -> None:
    result = await backend.train(model, groups)
    print(shown(result.metrics))
    await model.log(groups, split="train", metrics=result.metrics, step=result.step)
