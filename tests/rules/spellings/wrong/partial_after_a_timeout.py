import art
from openai import APIConnectionError, APITimeoutError


async def rollout(model: art.TrainableModel, task) -> art.Trajectory:
    traj = art.Trajectory(messages_and_choices=[{"role": "user", "content": task.text}])
    for _ in range(5):
        try:
            completion = await model.openai_client().chat.completions.create(
                model=model.get_inference_name(), messages=traj.messages()
            )
        except (APITimeoutError, APIConnectionError) as error:  # <- ART305
            traj.log(f"lost: {error}")
            return traj.finish()
        traj.messages_and_choices.append(completion.choices[0])
        if task.is_solved(completion):
            traj.reward = 1.0
            return traj.finish()
        traj.messages_and_choices.append({"role": "user", "content": "Again."})
    return traj.finish()
