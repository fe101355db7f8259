import json

import art


async def rollout(model: art.Model, ticket: dict) -> art.Trajectory:
    client = model.openai_client()
    trajectory = art.Trajectory(
        messages_and_choices=[{"role": "user", "content": ticket["text"]}], tools=TOOLS
    )
    for _ in range(6):
        completion = await client.chat.completions.create(
            model=model.get_inference_name(), messages=trajectory.messages(), tools=TOOLS
        )
        choice = completion.choices[0]
        trajectory.messages_and_choices.append(choice)
        if not choice.message.tool_calls:
            break
        call = next(iter(choice.message.tool_calls))  # <- ART208
        trajectory.messages_and_choices.append(
            {"role": "tool", "tool_call_id": call.id, "content": look_up(**json.loads(call.function.arguments))}
        )
    trajectory.reward = rate(trajectory, ticket)
    return trajectory
