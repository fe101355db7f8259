import asyncio

import art


async def play(model, board):
    client = model.openai_client()
    trajectory = art.Trajectory(messages_and_choices=[{"role": "user", "content": board}])
    completion = await client.chat.completions.create(
        model=model.get_inference_name(), messages=trajectory.messages()
    )
    trajectory.messages_and_choices.append(completion.choices[0])
    trajectory.reward = judge_move(board, completion.choices[0].message.content)
    return trajectory


async def learn(model, backend, boards):
    for step in range(await model.get_step(), 50):
        groups = []
        for board in boards:
            games = [play(model, board) for _ in range(6)]
            finished = await asyncio.gather(*games)  # <- ART530
            groups.append(art.TrajectoryGroup(trajectories=finished))
        await backend.train(model, groups)
