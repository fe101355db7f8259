import json

import art


async def rollout(client, model: art.TrainableModel, row: dict):
    known = dict(row)
    known.pop("answer")
    messages = [{"role": "user", "content": json.dumps(known)}]
    trajectory = art.Trajectory(messages_and_choices=messages)
    reply = await client.chat.completions.create(
        model=model.get_inference_name(), messages=trajectory.messages()
    )
    choice = reply.choices[0]
    trajectory.messages_and_choices.append(choice)
    trajectory.reward = float(choice.message.content == row["answer"])
    return trajectory
