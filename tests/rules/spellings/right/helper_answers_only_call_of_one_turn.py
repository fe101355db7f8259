import json

import art

from pantry import SPECS, look_up


def answer(choice, trajectory: art.Trajectory) -> None:
    call = choice.message.tool_calls[0]
    found = look_up(**json.loads(call.function.arguments))
    trajectory.messages_and_choices.append(
        {"role": "tool", "tool_call_id": call.id, "content": json.dumps(found)}
    )


async def cook(model: art.Model, wish: str) -> art.Trajectory:
    trajectory = art.Trajectory(
        messages_and_choices=[{"role": "user", "content": wish}], tools=SPECS
    )
    client, name = model.openai_client(), model.get_inference_name()
    completion = await client.chat.completions.create(
        model=name, messages=trajectory.messages(), tools=SPECS
    )
    choice = completion.choices[0]
    trajectory.messages_and_choices.append(choice)
    if choice.message.tool_calls:
        answer(choice, trajectory)
    trajectory.reward = float("eggs" in (choice.message.content or ""))
    return trajectory
