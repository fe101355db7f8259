import art
from art.serverless.backend import ServerlessBackend


class Run:
    def __init__(self, model):
        self.model = model
        self.backend = ServerlessBackend()

    async def learn(self, groups):
        try:
            await self.model.register(self.backend)
            await self.backend.train(self.model, groups)
        finally:
            self.backend.close()  # <- ART508
