import art
from openai import RateLimitError


@art.retry(max_attempts=4, exceptions=(RateLimitError,))
async def complete(model: art.TrainableModel, messages):
    return await model.openai_client().chat.completions.create(
        model=model.get_inference_name(), messages=messages
    )


async def rollout(model: art.TrainableModel, task) -> art.Trajectory:
    traj = art.Trajectory(messages_and_choices=[{"role": "user", "content": task.text}])
    completion = await complete(model, traj.messages())
    traj.messages_and_choices.append(completion.choices[0])
    traj.reward = task.rate(completion.choices[0].message.content)
    return traj
