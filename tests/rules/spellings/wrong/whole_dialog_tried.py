import art
from openai import APIStatusError


async def rollout(model: art.TrainableModel, task) -> art.Trajectory:
    traj = art.Trajectory(messages_and_choices=[{"role": "user", "content": task.text}])
    done = []
    try:
        for _ in range(9):
            completion = await model.openai_client().chat.completions.create(
                model=model.get_inference_name(), messages=traj.messages()
            )
            traj.messages_and_choices.append(completion.choices[0])
            done.append(task.step(completion))
            traj.messages_and_choices.append({"role": "user", "content": "Next."})
    except APIStatusError as error:  # <- ART305
        print(error)
    traj.reward = len(done) / task.steps
    return traj.finish()
