import art


def as_reply(call, text):
    return {"role": "tool", "tool_call_id": call.id, "content": text}


async def rollout(model, patient):
    client = model.openai_client()
    trajectory = art.Trajectory(messages_and_choices=[{"role": "user", "content": patient.complaint}], tools=TOOLS)
    for _ in range(8):
        completion = await client.chat.completions.create(
            model=model.get_inference_name(), messages=trajectory.messages(), tools=TOOLS
        )
        choice = completion.choices[0]
        trajectory.messages_and_choices.append(choice)
        if choice.message.tool_calls:
            trajectory.messages_and_choices.append(
                as_reply(choice.message.tool_calls[0], patient.examine())  # <- ART208
            )
        else:
            break
    trajectory.reward = patient.health()
    return trajectory
