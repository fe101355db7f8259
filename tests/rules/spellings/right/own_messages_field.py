import art


class Session:
    def __init__(self, first):
        self.messages = [first]


async def rollout(model, first):
    client = model.openai_client()
    session = Session(first)
    trajectory = art.Trajectory(messages_and_choices=[first])
    completion = await client.chat.completions.create(model=model.get_inference_name(), messages=session.messages)
    trajectory.messages_and_choices.append(completion.choices[0])
    session.messages.append(completion.choices[0].message)
    trajectory.reward = float(len(session.messages))
    return trajectory
