import art


async def with_retries(work, attempts: int = 3):
    for left in reversed(range(attempts)):
        try:
            return await work()
        except Exception:
            if not left:
                raise


async def rollout(model: art.TrainableModel, task) -> art.Trajectory:
    traj = art.Trajectory(messages_and_choices=[{"role": "user", "content": task.text}])

    async def play():
        completion = await model.openai_client().chat.completions.create(
            model=model.get_inference_name(), messages=traj.messages()
        )
        traj.messages_and_choices.append(completion.choices[0])  # <- ART207
        return task.parse(completion.choices[0].message.content)

    traj.reward = task.rate(await with_retries(play))
    return traj
