import art


async def rollout(model, tale, template):
    client = model.openai_client()
    trajectory = art.Trajectory(messages_and_choices=[{"role": "user", "content": tale}])
    body = {"top_k": -1}
    body["chat_template"] = template.read_text()
    completion = await client.chat.completions.create(
        model=model.get_inference_name(), messages=trajectory.messages(), extra_body=body  # <- ART407
    )
    trajectory.messages_and_choices.append(completion.choices[0])
    trajectory.reward = rate(completion.choices[0].message.content)
    return trajectory
