import art

CURVE = "kl_div"


async def step(model: art.TrainableModel, backend, groups, limit: float) -> bool:
    trained = await backend.train(model, groups)
    moved = trained.metrics.get(CURVE, 0.0)  # <- ART554
    return moved > limit
