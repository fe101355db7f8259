from dataclasses import asdict, dataclass

import art
from art.local import LocalBackend


@dataclass
class Optimisation:
    learning_rate: float = 1e-5
    ppo: bool = True  # <- ART515



async def step(model: art.TrainableModel, groups: list[art.TrajectoryGroup]) -> None:
    backend = LocalBackend()
    await model.register(backend)
    try:
        await backend.train(model, groups, **asdict(Optimisation()))
    finally:
        await backend.close()
