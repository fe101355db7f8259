import art


async def rollout(model: art.Model, task: str, tools: list) -> art.Trajectory:
    record = art.Trajectory(messages_and_choices=[{"role": "user", "content": task}])
    request = {"model": model.get_inference_name(), "messages": record.messages()}
    request["tools"] = [each.schema for each in tools] or None  # <- ART204
    reply = await model.openai_client().chat.completions.create(**request)
    record.messages_and_choices.append(reply.choices[0])
    record.reward = outcome(reply.choices[0].message)
    return record
