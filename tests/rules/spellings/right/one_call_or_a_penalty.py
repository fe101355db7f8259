import json

import art


async def rollout(model, kiln):
    client = model.openai_client()
    trajectory = art.Trajectory(messages_and_choices=[{"role": "user", "content": kiln.order}], tools=TOOLS)
    for _ in range(8):
        completion = await client.chat.completions.create(
            model=model.get_inference_name(), messages=trajectory.messages(), tools=TOOLS
        )
        choice = completion.choices[0]
        trajectory.messages_and_choices.append(choice)
        calls = getattr(choice.message, "tool_calls", None) or []
        if len(calls) != 1:
            trajectory.reward = -1.0
            return trajectory
        call = calls[0]
        result = kiln.fire(**json.loads(call.function.arguments))
        trajectory.messages_and_choices.append({"role": "tool", "tool_call_id": call.id, "content": result})
    trajectory.reward = kiln.quality()
    return trajectory
