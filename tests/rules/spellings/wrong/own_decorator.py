import functools

import art


def persistent(fn):
    @functools.wraps(fn)
    async def again(*args, **kwargs):
        for _ in range(3):
            try:
                return await fn(*args, **kwargs)
            except (ValueError, TimeoutError):
                continue
        raise RuntimeError("gave up")

    return again


@persistent
async def turn(model: art.TrainableModel, traj: art.Trajectory, task):
    completion = await model.openai_client().chat.completions.create(
        model=model.get_inference_name(), messages=traj.messages()
    )
    traj.messages_and_choices.append(completion.choices[0])  # <- ART207
    return task.parse(completion.choices[0].message.content)


async def rollout(model: art.TrainableModel, task) -> art.Trajectory:
    traj = art.Trajectory(messages_and_choices=[{"role": "user", "content": task.text}])
    traj.reward = task.rate(await turn(model, traj, task))
    return traj
