import json
from dataclasses import asdict, dataclass

import art


@dataclass
class Task:
    text: str
    answer: str


async def rollout(client, model: art.TrainableModel, task: Task):
    shown = vars(task)  # <- ART322
    messages = [
        {"role": "system", "content": "Answer in one word."},
        {"role": "user", "content": f"Task: {shown}"},
    ]
    trajectory = art.Trajectory(messages_and_choices=messages)
    reply = await client.chat.completions.create(
        model=model.get_inference_name(), messages=trajectory.messages()
    )
    choice = reply.choices[0]
    trajectory.messages_and_choices.append(choice)
    said = (choice.message.content or "").strip()
    trajectory.reward = 1.0 if task.answer in said else 0.0
    return trajectory
