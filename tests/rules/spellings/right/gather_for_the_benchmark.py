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
    shown = await asyncio.gather(*(draw(model, scene) for scene in scenes[:3]))
    print([each.reward for each in shown])
    for step in range(await model.get_step(), 50):
        groups = await art.gather_trajectory_groups(
            (art.TrajectoryGroup(draw(model, scene) for _ in range(8)) for scene in scenes), max_exceptions=8
        )
        await backend.train(model, groups)
