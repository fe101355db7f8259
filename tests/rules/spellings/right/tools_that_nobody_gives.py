import art


async def rollout(model: art.Model, task: str, tools: list | None = None) -> art.Trajectory:
    record = art.Trajectory(messages_and_choices=[{"role": "user", "content": task}])
    reply = await model.openai_client().chat.completions.create(
        model=model.get_inference_name(), messages=record.messages(), tools=tools
    )
    record.messages_and_choices.append(reply.choices[0])
    record.reward = outcome(reply.choices[0].message)
    return record


async def group(model: art.Model, task: str) -> art.TrajectoryGroup:
    return art.TrajectoryGroup([await rollout(model, task) for _ in range(4)])
