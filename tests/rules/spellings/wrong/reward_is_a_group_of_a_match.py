import art, re
P = re.compile(r"score: (\d+)")
async def rollout(model: art.Model, q: str) -> art.Trajectory:
    m = [{"role": "user", "content": q}]
    r = await model.openai_client().chat.completions.create(model=model.get_inference_name(), messages=m)
    t = art.Trajectory(messages_and_choices=[*m, r.choices[0]])
    found = P.search(r.choices[0].message.content)
    if found is None:
        t.reward = 0.0
    else:
        t.reward = found.group(1)  # <- ART304
    return t
