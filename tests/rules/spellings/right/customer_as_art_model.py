import os

import art


class Roles:
    def __init__(self, model: art.TrainableModel):
        self.policy = model
        self.customer = art.Model(name="sim", project="p", inference_base_url=os.environ["SIM_URL"])


async def say(model: art.Model, seen):
    completion = await model.openai_client().chat.completions.create(
        model=model.get_inference_name(), messages=seen
    )
    return completion.choices[0]


async def rollout(roles: Roles, task) -> art.Trajectory:
    traj = art.Trajectory(messages_and_choices=[{"role": "user", "content": task.text}])
    for _ in range(3):
        traj.messages_and_choices.append(await say(roles.policy, traj.messages()))
        line = await say(roles.customer, traj.messages())
        traj.messages_and_choices.append({"role": "user", "content": line.message.content})
    traj.reward = task.score()
    return traj
