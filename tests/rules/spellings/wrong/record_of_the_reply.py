from dataclasses import dataclass

import art


@dataclass
class Reply:
    text: str
    tokens: int


async def ask(model: art.TrainableModel, messages: list) -> Reply:
    completion = await model.openai_client().chat.completions.create(
        model=model.get_inference_name(), messages=messages
    )
    return Reply(text=completion.choices[0].message.content or "", tokens=completion.usage.total_tokens)


async def rollout(model: art.TrainableModel, task) -> art.Trajectory:
    traj = art.Trajectory(messages_and_choices=[{"role": "user", "content": task.text}])
    reply = await ask(model, traj.messages())
    traj.messages_and_choices.append({"role": "assistant", "content": reply.text})  # <- ART202
    traj.reward = task.rate(reply.text)
    return traj
