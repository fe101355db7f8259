import functools

import art


def logged(rollout):
    @functools.wraps(rollout)
    async def guarded(model, task):
        traj = art.Trajectory(messages_and_choices=[{"role": "user", "content": task.text}])
        try:
            await rollout(model, task, traj)
        except Exception as error:
            print(task.id, error)
            raise
        return traj

    return guarded


@logged
async def solve(model: art.TrainableModel, task, traj: art.Trajectory) -> None:
    completion = await model.openai_client().chat.completions.create(
        model=model.get_inference_name(), messages=traj.messages()
    )
    traj.messages_and_choices.append(completion.choices[0])
    traj.reward = task.rate(completion.choices[0].message.content)
