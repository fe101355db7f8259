import art
import requests


class Calculator:
    def __init__(self, url: str):
        self.url = url
        self.session = requests.Session()

    def evaluate(self, text: str) -> str:
        return self.session.post(self.url, json={"text": text}).text  # <- ART512


class Solver:
    def __init__(self, model: art.TrainableModel, calculator: Calculator):
        self.model = model
        self.calculator = calculator

    async def solve(self, task) -> art.Trajectory:
        traj = art.Trajectory(messages_and_choices=[{"role": "user", "content": task.text}])
        completion = await self.model.openai_client().chat.completions.create(
            model=self.model.get_inference_name(), messages=traj.messages()
        )
        traj.messages_and_choices.append(completion.choices[0])
        traj.reward = task.rate(self.calculator.evaluate(completion.choices[0].message.content))
        return traj
