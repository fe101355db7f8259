import json
from dataclasses import asdict, dataclass

import art


@dataclass
class Task:
    text: str
    answer: str


class Judge:
    def __init__(self, weight: float):
        self.weight = weight

    def score(self, said: str, task: Task) -> float:
        return self.weight * (said == task.answer)


JUDGE = Judge(2.0)


async def rollout(client, model: art.TrainableModel, task: Task):
    asked = str(task)  # <- ART322
    messages = [{"role": "user", "content": "Solve: " + asked}]
    trajectory = art.Trajectory(messages_and_choices=messages)
    reply = await client.chat.completions.create(
        model=model.get_inference_name(), messages=trajectory.messages()
    )
    choice = reply.choices[0]
    trajectory.messages_and_choices.append(choice)
    said = (choice.message.content or "").strip()
    trajectory.reward = JUDGE.score(said, task)
    return trajectory
