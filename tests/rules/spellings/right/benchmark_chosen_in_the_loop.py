import art
from openai import AsyncOpenAI

strong = AsyncOpenAI()


async def rollout(model: art.Model, task) -> art.Trajectory:
    traj = art.Trajectory(messages_and_choices=[{"role": "user", "content": task.text}])
    for _ in range(5):
        if model.trainable:
            client, name = model.openai_client(), model.get_inference_name()
        else:
            client, name = strong, model.inference_model_name
        completion = await client.chat.completions.create(model=name, messages=traj.messages())
        traj.messages_and_choices.append(completion.choices[0])
        traj.messages_and_choices.append({"role": "user", "content": task.step(completion)})
    traj.reward = task.score()
    return traj
