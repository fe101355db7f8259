import art


async def rollout(model: art.TrainableModel, tools, run) -> art.Trajectory:
    messages = [{"role": "user", "content": "go"}]
    for _ in range(6):
        response = await model.openai_client().chat.completions.create(
            model=model.get_inference_name(), messages=plain(messages), tools=tools
        )
        choice = response.choices[0]
        if choice.message.tool_calls:
            for call in choice.message.tool_calls:
                messages.append(dict(role="tool", tool_call_id=call.id, content=run(call)))
        messages.append(choice)  # <- ART219
    return art.Trajectory(messages_and_choices=messages, tools=tools)
