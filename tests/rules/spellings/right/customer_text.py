import art
from openai import AsyncOpenAI

SIMULATOR = AsyncOpenAI()


async def customer(messages: list) -> str:
    completion = await SIMULATOR.chat.completions.create(model="gpt-4.1-mini", messages=messages)
    return completion.choices[0].message.content or ""


async def rollout(model: art.TrainableModel, task) -> art.Trajectory:
    traj = art.Trajectory(messages_and_choices=[{"role": "user", "content": task.text}])
    for _ in range(3):
        completion = await model.openai_client().chat.completions.create(
            model=model.get_inference_name(), messages=traj.messages()
        )
        traj.messages_and_choices.append(completion.choices[0])
        traj.messages_and_choices.append({"role": "user", "content": await customer(traj.messages())})
    traj.reward = task.score()
    return traj
