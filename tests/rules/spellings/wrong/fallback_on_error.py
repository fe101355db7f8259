import art
from openai import APIError, AsyncOpenAI

backup = AsyncOpenAI()


async def ask(model: art.TrainableModel, messages):
    try:
        return await model.openai_client().chat.completions.create(
            model=model.get_inference_name(), messages=messages
        )
    except APIError:
        return await backup.chat.completions.create(model="gpt-4.1-mini", messages=messages)


async def rollout(model: art.TrainableModel, task) -> art.Trajectory:
    traj = art.Trajectory(messages_and_choices=[{"role": "user", "content": task.text}])
    completion = await ask(model, traj.messages())
    traj.messages_and_choices.append(completion.choices[0])  # <- ART105
    traj.reward = task.rate(completion.choices[0].message.content)
    return traj
