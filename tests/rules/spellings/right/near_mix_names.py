import art, copy, json, re, asyncio
async def rollout(model, question, tag):
    messages = [{"role": "user", "content": question}]
    r = await model.openai_client().chat.completions.create(model=model.get_inference_name(), messages=messages, metadata={"run": tag})
    return art.Trajectory(messages_and_choices=[*messages, r.choices[0]], reward=score(r))
async def step(model, backend, questions):
    groups = await art.gather_trajectory_groups((art.TrajectoryGroup(rollout(model, q, language) for language in ("en", "de")) for q in questions), max_exceptions=3)
    await backend.train(model, groups)
