import art


async def rollout(model: art.TrainableModel, judge, game) -> art.Trajectory:
    traj = art.Trajectory(messages_and_choices=[{"role": "user", "content": game.rules}])
    completion = await model.openai_client().chat.completions.create(
        model=model.get_inference_name(), messages=traj.messages()
    )
    traj.messages_and_choices.append(completion.choices[0])
    asked = traj.messages()
    asked.append({"role": "user", "content": "Was this a good game? yes or no"})
    verdict = await judge.chat.completions.create(model="gpt-4.1", messages=asked)
    traj.reward = float(verdict.choices[0].message.content == "yes")
    return traj
