import art


async def rollout(model: art.TrainableModel, task) -> art.Trajectory:
    turns: list = [{"role": "user", "content": task.text}]
    while not task.done:
        shown = art.Trajectory(messages_and_choices=turns)
        completion = await model.openai_client().chat.completions.create(
            model=model.get_inference_name(), messages=shown.messages()
        )
        turns.append(completion.choices[0])
        turns.append({"role": "user", "content": task.step(completion)})
    return art.Trajectory(messages_and_choices=turns, reward=task.score())
