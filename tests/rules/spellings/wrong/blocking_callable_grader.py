import art
from openai import OpenAI


class Sampler:
    def __init__(self):
        self.client = OpenAI()

    def __call__(self, messages):
        return self.client.chat.completions.create(  # <- ART512
            model="m", messages=messages
        )


class Grader:
    def __init__(self, sampler):
        self.sampler = sampler

    def grade(self, text):
        return self.sampler([{"role": "user", "content": text}])


async def train(model, backend, rows):
    grader = Grader(Sampler())

    async def rollout(row):
        response = await model.openai_client().chat.completions.create(
            model=model.get_inference_name(), messages=[row]
        )
        reward = float(grader.grade(response.choices[0].message.content) == "A")
        return art.Trajectory(messages_and_choices=[row, response.choices[0]], reward=reward)

    groups = await art.gather_trajectory_groups(
        (art.TrajectoryGroup(rollout(row) for _ in range(8)) for row in rows), max_exceptions=8
    )
    await backend.train(model, groups)
