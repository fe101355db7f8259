import art, copy, json, re, asyncio
async def rollout(model, question, tag):
    messages = [{"role": "user", "content": question}]
    r = await model.openai_client().chat.completions.create(model=model.get_inference_name(), messages=messages)
    return art.Trajectory(messages_and_choices=[*messages, r.choices[0]], reward=score(r), metadata={"worker": tag})
async def step(model, backend, questions):
    groups = []
    for q in questions:
        members = []
        for worker in ("w1", "w2", "w3"):
            members.append(rollout(model, q, worker))
        groups.append(art.TrajectoryGroup(members))
    groups = await art.gather_trajectory_groups(groups, max_exceptions=3)
    await backend.train(model, groups)
