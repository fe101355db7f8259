from dataclasses import asdict, dataclass

import art
from art.local import LocalBackend


@dataclass
class Optimisation:
    learning_rate: float = 1e-5
    loss_fn: str = "ppo"
    epsilon: float = 0.2



async def step(model: art.TrainableModel, groups: list[art.TrajectoryGroup]) -> None:
    backend = LocalBackend()
    await model.register(backend)
    try:
        await backend.train(model, groups, **asdict(Optimisation()))
    finally:
        await backend.close()
