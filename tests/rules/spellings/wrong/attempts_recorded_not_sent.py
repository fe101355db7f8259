import art, json
async def rollout(model: art.Model, q: str) -> art.Trajectory:
    t = art.Trajectory(messages_and_choices=[{"role": "user", "content": q}])
    prompt = t.messages()
    for attempt in range(3):
        r = await model.openai_client().chat.completions.create(model=model.get_inference_name(), messages=prompt)  # <- ART216
        t.messages_and_choices.append(r.choices[0])
        try:
            t.reward = float(json.loads(r.choices[0].message.content)["total"] == 3)
            return t
        except ValueError:
            continue
    t.reward = -1.0
    return t
