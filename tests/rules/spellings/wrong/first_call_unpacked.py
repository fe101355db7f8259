import json

import art


async def rollout(model, garden):
    client = model.openai_client()
    trajectory = art.Trajectory(messages_and_choices=[{"role": "user", "content": garden.wish}], tools=TOOLS)
    for _ in range(8):
        completion = await client.chat.completions.create(
            model=model.get_inference_name(), messages=trajectory.messages(), tools=TOOLS
        )
        choice = completion.choices[0]
        trajectory.messages_and_choices.append(choice)
        calls = getattr(choice.message, "tool_calls", None) or []
        if not calls:
            break
        first, *_ = calls  # <- ART208
        result = garden.act(first.function.name, json.loads(first.function.arguments))
        trajectory.messages_and_choices.append({"role": "tool", "tool_call_id": first.id, "content": result})
    trajectory.reward = garden.bloom()
    return trajectory
