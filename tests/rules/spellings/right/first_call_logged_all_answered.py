import json

import art


async def rollout(model, train):
    client = model.openai_client()
    trajectory = art.Trajectory(messages_and_choices=[{"role": "user", "content": train.route}], tools=TOOLS)
    for _ in range(8):
        completion = await client.chat.completions.create(
            model=model.get_inference_name(), messages=trajectory.messages(), tools=TOOLS
        )
        choice = completion.choices[0]
        trajectory.messages_and_choices.append(choice)
        calls = choice.message.tool_calls or []
        if not calls:
            break
        first = calls[0]
        print("first:", first.function.name)
        for call in calls:
            result = train.drive(**json.loads(call.function.arguments))
            trajectory.messages_and_choices.append({"role": "tool", "tool_call_id": call.id, "content": result})
    trajectory.reward = train.punctuality()
    return trajectory
