import uuid

import art


async def rollout(model, orchard):
    client = model.openai_client()
    trajectory = art.Trajectory(messages_and_choices=[{"role": "user", "content": orchard.wish}], tools=TOOLS)
    while not orchard.done:
        completion = await client.chat.completions.create(
            model=model.get_inference_name(), messages=trajectory.messages(), tools=TOOLS
        )
        message = completion.choices[0].message
        trajectory.messages_and_choices.append(completion.choices[0])
        for call in message.tool_calls or []:
            identifier = uuid.uuid4().hex
            reply = dict(role="tool", content=orchard.run(call.function), tool_call_id=identifier)  # <- ART213
            trajectory.messages_and_choices.append(reply)
    trajectory.reward = orchard.harvest()
    return trajectory
