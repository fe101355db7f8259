import art
from openai import AsyncOpenAI

teacher = AsyncOpenAI()


async def asked(client, name, messages):
    completion = await client.chat.completions.create(model=name, messages=messages)
    return completion.choices[0]


async def rollout(model: art.TrainableModel, task) -> art.Trajectory:
    traj = art.Trajectory(messages_and_choices=[{"role": "user", "content": task.text}])
    choice = await asked(model.openai_client(), model.get_inference_name(), traj.messages())
    if not task.is_valid(choice.message.content):
        choice = await asked(teacher, "gpt-4.1", traj.messages())
    traj.messages_and_choices.append(choice)  # <- ART105
    traj.reward = task.rate(choice.message.content)
    return traj
