import asyncio

import art


async def answer(model, question):
    client = model.openai_client()
    trajectory = art.Trajectory(messages_and_choices=[{"role": "user", "content": question}])
    completion = await client.chat.completions.create(
        model=model.get_inference_name(), messages=trajectory.messages()
    )
    trajectory.messages_and_choices.append(completion.choices[0])
    trajectory.reward = float(len(completion.choices[0].message.content) < 200)
    return trajectory


async def several(model, question, number):
    return await asyncio.gather(*(answer(model, question) for _ in range(number)))  # <- ART530


async def learn(model, backend, questions):
    for step in range(await model.get_step(), 50):
        groups = [art.TrajectoryGroup(await several(model, each, 6)) for each in questions]
        await backend.train(model, groups)
