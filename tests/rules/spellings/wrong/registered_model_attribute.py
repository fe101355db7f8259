import art
from art.local import LocalBackend


async def prepare(name: str) -> art.TrainableModel:
    model = art.TrainableModel(name=name, run_name=name, project="p", base_model="b")
    backend = LocalBackend(path="/data")
    await backend.register(model)  # <- ART555
    await backend.train(model, await collect(model))
    return model
