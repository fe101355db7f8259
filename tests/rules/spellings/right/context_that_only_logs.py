import art


class Timed:
    async def __aenter__(self):
        return self

    async def __aexit__(self, kind, error, trace) -> bool:
        if error is not None:
            print("failed", error)
        return False


async def rollout(model: art.TrainableModel, task) -> art.Trajectory:
    traj = art.Trajectory(messages_and_choices=[{"role": "user", "content": task.text}])
    async with Timed():
        completion = await model.openai_client().chat.completions.create(
            model=model.get_inference_name(), messages=traj.messages()
        )
        traj.messages_and_choices.append(completion.choices[0])
    traj.reward = task.rate(completion.choices[0].message.content)
    return traj
