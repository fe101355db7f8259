import functools

import art


def never_fails(rollout):
    @functools.wraps(rollout)
    async def guarded(model, task):
        traj = art.Trajectory(messages_and_choices=[{"role": "user", "content": task.text}])
        try:
            await rollout(model, task, traj)
        except Exception:  # <- ART305
            traj.reward = 0.0
        return traj

    return guarded


@never_fails
async def solve(model: art.TrainableModel, task, traj: art.Trajectory) -> None:
    completion = await model.openai_client().chat.completions.create(
        model=model.get_inference_name(), messages=traj.messages()
    )
    traj.messages_and_choices.append(completion.choices[0])
    traj.reward = task.rate(completion.choices[0].message.content)
