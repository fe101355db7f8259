from functools import partial

import art

SPECS = [{"type": "function", "function": {"name": "look"}}]


async def rollout(model: art.TrainableModel, task) -> art.Trajectory:
    traj = art.Trajectory(messages_and_choices=[{"role": "user", "content": task.text}])
    ask = partial(
        model.openai_client().chat.completions.create,
        model=model.get_inference_name(),
        tools=SPECS,  # <- ART204
    )
    completion = await ask(messages=traj.messages())
    traj.messages_and_choices.append(completion.choices[0])
    traj.reward = task.rate(completion.choices[0])
    return traj
