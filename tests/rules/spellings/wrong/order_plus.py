import art


async def rollout(model: art.TrainableModel, tools, run) -> art.Trajectory:
    traj = art.Trajectory(messages_and_choices=[], tools=tools)
    for _ in range(6):
        response = await model.openai_client().chat.completions.create(
            model=model.get_inference_name(), messages=traj.messages(), tools=tools
        )
        choice = response.choices[0]
        calls = choice.message.tool_calls or []
        traj.messages_and_choices += [
            {"role": "tool", "tool_call_id": c.id, "content": run(c)} for c in calls
        ]
        traj.messages_and_choices.append(choice)  # <- ART219
        if not calls:
            break
    return traj
