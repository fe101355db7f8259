from dataclasses import asdict, dataclass

import art
from art.local import LocalBackend


@dataclass
class Optimisation:
    learning_rate: float = 1e-5
    ppo: bool = True  # <- ART515


OPTIMISATION = Optimisation(learning_rate=5e-6)


async def step(model: art.TrainableModel, groups: list[art.TrajectoryGroup]) -> None:
    backend = LocalBackend()
    await model.register(backend)
    try:
        await backend.train(model, groups, **vars(OPTIMISATION))
    finally:
        await backend.close()
