import art


def turn(role: str, text: str) -> dict:
    return {"role": role, "content": text}


async def say(model: art.TrainableModel, messages: list) -> str:
    completion = await model.openai_client().chat.completions.create(
        model=model.get_inference_name(), messages=messages
    )
    [choice] = completion.choices
    return choice.message.content


async def rollout(model: art.TrainableModel, task) -> art.Trajectory:
    turns = [turn("user", task.text)]
    for _ in range(3):
        turns.append(turn("assistant", await say(model, turns)))  # <- ART202
        turns.append(turn("user", task.reply(turns[-1]["content"])))
    return art.Trajectory(messages_and_choices=turns, reward=task.score())
