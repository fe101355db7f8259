import json
from dataclasses import asdict, dataclass

import art


@dataclass
class Task:
    text: str
    answer: str


def right(task: Task, text: str) -> bool:
    last = text.split()[-1]
    return last.lower() == task.answer.lower()


async def rollout(client, model: art.TrainableModel, task: Task):
    messages = [{"role": "user", "content": f"Do this: {task}"}]  # <- ART322
    trajectory = art.Trajectory(messages_and_choices=messages)
    reply = await client.chat.completions.create(
        model=model.get_inference_name(), messages=trajectory.messages()
    )
    choice = reply.choices[0]
    trajectory.messages_and_choices.append(choice)
    said = (choice.message.content or "").strip()
    trajectory.reward = float(right(task, said))
    return trajectory
