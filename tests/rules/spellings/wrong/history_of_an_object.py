import os

import art
from openai import AsyncOpenAI

SIM = AsyncOpenAI(base_url=os.environ["SIM_URL"])


class Dialog:
    def __init__(self, model: art.TrainableModel, case):
        self.model = model
        self.case = case
        self.history: list = [{"role": "system", "content": case.rules}]

    async def customer(self):
        completion = await SIM.chat.completions.create(
            model=os.environ["SIM_MODEL"], messages=self.case.view(self.history)
        )
        return completion.choices[0]

    async def run(self) -> art.Trajectory:
        for _ in range(4):
            line = await self.customer()
            self.history.append(line)  # <- ART105
            completion = await self.model.openai_client().chat.completions.create(
                model=self.model.get_inference_name(), messages=self.case.view(self.history)
            )
            self.history.append(completion.choices[0])
        return art.Trajectory(messages_and_choices=self.history, reward=self.case.score())
