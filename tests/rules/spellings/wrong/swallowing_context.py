import art


class Episode:
    def __init__(self, task):
        self.traj = art.Trajectory(messages_and_choices=[{"role": "user", "content": task.text}])

    async def __aenter__(self) -> art.Trajectory:
        return self.traj

    async def __aexit__(self, kind, error, trace) -> bool:
        if error is not None:
            self.traj.reward = -1.0
        return True  # <- ART305


async def rollout(model: art.TrainableModel, task) -> art.Trajectory:
    episode = Episode(task)
    async with episode as traj:
        completion = await model.openai_client().chat.completions.create(
            model=model.get_inference_name(), messages=traj.messages()
        )
        traj.messages_and_choices.append(completion.choices[0])
        traj.reward = task.rate(completion.choices[0].message.content)
    return episode.traj
