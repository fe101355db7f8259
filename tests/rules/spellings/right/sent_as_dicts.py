import art


def as_message(choice) -> dict:
    return {"role": choice.message.role, "content": choice.message.content or ""}


async def rollout(model: art.TrainableModel, task) -> art.Trajectory:
    items: list = [{"role": "user", "content": task.text}]
    sent = list(items)
    for _ in range(3):
        completion = await model.openai_client().chat.completions.create(
            model=model.get_inference_name(), messages=sent
        )
        items.append(completion.choices[0])
        sent.append(as_message(completion.choices[0]))
        more = {"role": "user", "content": task.step(completion)}
        items.append(more)
        sent.append(more)
    return art.Trajectory(messages_and_choices=items, reward=task.score())
