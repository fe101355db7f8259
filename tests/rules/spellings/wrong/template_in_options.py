import art

OPTIONS = {"temperature": 1.0, "extra_body": {"chat_template": "{% for m in messages %}{{ m.content }}{% endfor %}"}}


async def rollout(model, tale):
    client = model.openai_client()
    trajectory = art.Trajectory(messages_and_choices=[{"role": "user", "content": tale}])
    completion = await client.chat.completions.create(
        model=model.get_inference_name(),
        messages=trajectory.messages(),
        extra_body=OPTIONS["extra_body"],  # <- ART407
    )
    trajectory.messages_and_choices.append(completion.choices[0])
    trajectory.reward = rate(completion.choices[0].message.content)
    return trajectory
