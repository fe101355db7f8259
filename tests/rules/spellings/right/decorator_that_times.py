import functools
import time

import art


def timed(fn):
    @functools.wraps(fn)
    async def measured(*args, **kwargs):
        start = time.monotonic()
        try:
            return await fn(*args, **kwargs)
        finally:
            print(time.monotonic() - start)

    return measured


@timed
async def turn(model: art.TrainableModel, traj: art.Trajectory, task):
    completion = await model.openai_client().chat.completions.create(
        model=model.get_inference_name(), messages=traj.messages()
    )
    traj.messages_and_choices.append(completion.choices[0])
    return task.parse(completion.choices[0].message.content)


async def rollout(model: art.TrainableModel, task) -> art.Trajectory:
    traj = art.Trajectory(messages_and_choices=[{"role": "user", "content": task.text}])
    traj.reward = task.rate(await turn(model, traj, task))
    return traj
