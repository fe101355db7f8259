import art


def as_message(choice) -> dict:
    message = {"role": choice.message.role, "content": choice.message.content or ""}
    if choice.message.tool_calls:
        message["tool_calls"] = [call.model_dump() for call in choice.message.tool_calls]
    return message


async def rollout(model: art.TrainableModel, task) -> art.Trajectory:
    traj = art.Trajectory(messages_and_choices=[{"role": "user", "content": task.text}], tools=task.tools)
    for _ in range(6):
        completion = await model.openai_client().chat.completions.create(
            model=model.get_inference_name(), messages=traj.messages(), tools=task.tools
        )
        choice = completion.choices[0]
        if not choice.message.tool_calls:
            traj.messages_and_choices.append(choice)
            break
        traj.messages_and_choices.append(as_message(choice))  # <- ART202
        for call in choice.message.tool_calls:
            traj.messages_and_choices.append({"role": "tool", "tool_call_id": call.id, "content": task.run(call)})
    traj.reward = task.score()
    return traj
