import art


async def execute(trajectory: art.Trajectory, calls, tools):
    for call in calls:
        result = await tools[call.function.name](call.function.arguments)
        message = {"role": "tool", "tool_call_id": call.id, "content": result}
        trajectory.messages_and_choices.append(message)


async def rollout(model: art.TrainableModel, schemas, tools) -> art.Trajectory:
    trajectory = art.Trajectory(messages_and_choices=[], tools=schemas)
    while True:
        response = await model.openai_client().chat.completions.create(
            model=model.get_inference_name(), messages=trajectory.messages(), tools=schemas
        )
        choice = response.choices[0]
        if choice.message.tool_calls:
            await execute(trajectory, choice.message.tool_calls, tools)
        trajectory.messages_and_choices.append(choice)  # <- ART219
        if not choice.message.tool_calls:
            return trajectory
