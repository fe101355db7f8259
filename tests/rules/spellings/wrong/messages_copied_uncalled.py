import art


def transcript(trajectory: art.Trajectory) -> str:
    return "\n".join(m["content"] for m in [*trajectory.messages])  # <- ART529


async def rollout(model, essay):
    client = model.openai_client()
    trajectory = art.Trajectory(messages_and_choices=[{"role": "user", "content": essay}])
    completion = await client.chat.completions.create(
        model=model.get_inference_name(), messages=trajectory.messages()
    )
    trajectory.messages_and_choices.append(completion.choices[0])
    trajectory.reward = grade(transcript(trajectory))
    return trajectory
