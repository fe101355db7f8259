import art


def as_dict(item):
    return item if isinstance(item, dict) else item.message.model_dump()


def shorten(messages, most=12):
    return messages if len(messages) <= most else [messages[0], *messages[-most:]]


async def rollout(model: art.Model, task: str) -> art.Trajectory:
    record = art.Trajectory(messages_and_choices=[{"role": "user", "content": task}])
    while len(record.messages_and_choices) < 40:
        sent = shorten([as_dict(each) for each in record.messages_and_choices])
        reply = await model.openai_client().chat.completions.create(
            model=model.get_inference_name(), messages=sent  # <- ART203
        )
        record.messages_and_choices.append(reply.choices[0])
        record.messages_and_choices.append({"role": "user", "content": look(reply)})
    record.reward = outcome(record)
    return record
