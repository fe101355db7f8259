import json

import art


async def rollout(model, ride):
    client = model.openai_client()
    trajectory = art.Trajectory(messages_and_choices=[{"role": "user", "content": ride.request}], tools=TOOLS)
    while len(trajectory.messages_and_choices) < 20:
        completion = await client.chat.completions.create(
            model=model.get_inference_name(), messages=trajectory.messages(), tools=TOOLS
        )
        message = completion.choices[0].message
        trajectory.messages_and_choices.append(completion.choices[0])
        call = message.tool_calls[0] if message.tool_calls else None  # <- ART208
        if call is None:
            break
        answer = BOOKINGS[call.function.name](**json.loads(call.function.arguments))
        trajectory.messages_and_choices.append({"role": "tool", "tool_call_id": call.id, "content": answer})
    trajectory.reward = float(ride.is_booked())
    return trajectory
