import json
from dataclasses import asdict, dataclass

import art


@dataclass
class Task:
    text: str
    answer: str


async def rollout(client, model: art.TrainableModel, task: Task):
    known = {name: value for name, value in asdict(task).items() if name != "answer"}
    messages = [{"role": "user", "content": json.dumps(known)}]
    trajectory = art.Trajectory(messages_and_choices=messages)
    reply = await client.chat.completions.create(
        model=model.get_inference_name(), messages=trajectory.messages()
    )
    choice = reply.choices[0]
    trajectory.messages_and_choices.append(choice)
    said = (choice.message.content or "").strip()
    trajectory.reward = float(said == task.answer)
    return trajectory
