import art
from openai import AsyncOpenAI

STRONG = "gpt-4.1"
strong = AsyncOpenAI()


async def rollout(model: art.TrainableModel, task) -> art.Trajectory:
    traj = art.Trajectory(messages_and_choices=[{"role": "user", "content": task.text}])
    policy = (model.openai_client(), model.get_inference_name())
    for turn in range(5):
        client, name = (strong, STRONG) if turn == 0 else policy
        completion = await client.chat.completions.create(model=name, messages=traj.messages())
        traj.messages_and_choices.append(completion.choices[0])  # <- ART105
        traj.messages_and_choices.append({"role": "user", "content": task.step(completion)})
    traj.reward = task.score()
    return traj
