import json

import art

from pantry import SPECS, look_up


def answer(choice, trajectory: art.Trajectory) -> None:
    first = choice.message.tool_calls[0]
    print("cooking with", first.function.name)
    for call in choice.message.tool_calls:
        found = look_up(**json.loads(call.function.arguments))
        trajectory.messages_and_choices.append(
            {"role": "tool", "tool_call_id": call.id, "content": json.dumps(found)}
        )


async def cook(model: art.Model, wish: str) -> art.Trajectory:
    trajectory = art.Trajectory(
        messages_and_choices=[{"role": "user", "content": wish}], tools=SPECS
    )
    client, name = model.openai_client(), model.get_inference_name()
    for _ in range(6):
        completion = await client.chat.completions.create(
            model=name, messages=trajectory.messages(), tools=SPECS
        )
        choice = completion.choices[0]
        trajectory.messages_and_choices.append(choice)
        if not choice.message.tool_calls:
            break
        answer(choice, trajectory)
    trajectory.reward = float("eggs" in (choice.message.content or ""))
    return trajectory
