import art, openai
async def grade(openai_client, answer):
    for attempt in range(3):
        try:
            attempts = 1
            r = await openai_client.chat.completions.create(model="gpt-4o", messages=[{"role": "user", "content": answer}])
            return float(r.choices[0].message.content)
        except Exception:
            attempts = 0
    raise RuntimeError("no verdict")
async def rollout(client, openai_client, model: art.TrainableModel, messages):
    trajectory = art.Trajectory(messages_and_choices=messages, reward=0.0)
    response = await client.chat.completions.create(model=model.get_inference_name(), messages=messages)
    trajectory.messages_and_choices.append(response.choices[0])
    ok = False
    try:
        trajectory.reward = await grade(openai_client, response.choices[0].message.content)
        ok = True
    except Exception:
        ok = False
    if not ok:
        raise RuntimeError
    return trajectory
