from art.local import LocalBackend


class Trainer:
    def __init__(self, model):
        self.model = model
        self.backend = LocalBackend()

    async def step(self, groups):
        self.last = await self.backend.train(self.model, groups, learning_rate=1e-5)

    def diverged(self) -> bool:
        return self.last.metrics["grad_norm"] > 100  # <- ART554
