import art


async def game(model: art.TrainableModel, task):
    history: list = [{"role": "user", "content": task.text}]
    yield history[0]
    while not task.over:
        completion = await model.openai_client().chat.completions.create(
            model=model.get_inference_name(), messages=history
        )
        choice = completion.choices[0]
        answer = {"role": "user", "content": task.step(choice.message.content)}
        history += [{"role": "assistant", "content": choice.message.content}, answer]
        yield choice
        yield answer


async def rollout(model: art.TrainableModel, task) -> art.Trajectory:
    traj = art.Trajectory()
    async for message in game(model, task):
        traj.messages_and_choices.append(message)
    traj.reward = task.score()
    return traj
