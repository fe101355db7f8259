import asyncio

import art


async def draw(model, scene):
    client = model.openai_client()
    trajectory = art.Trajectory(messages_and_choices=[{"role": "user", "content": scene}])
    completion = await client.chat.completions.create(
        model=model.get_inference_name(), messages=trajectory.messages()
    )
    trajectory.messages_and_choices.append(completion.choices[0])
    trajectory.reward = likeness(scene, completion.choices[0].message.content)
    return trajectory


async def learn(model, backend, scenes):
    for step in range(await model.get_step(), 50):
        groups = []
        for scene in scenes:
            tasks = []
            for _ in range(8):
                tasks.append(asyncio.create_task(draw(model, scene)))
            groups.append(art.TrajectoryGroup(list(await asyncio.gather(*tasks))))  # <- ART530
        await backend.train(model, groups)
