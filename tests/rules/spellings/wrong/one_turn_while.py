import art


async def chat(model: art.TrainableModel, user) -> art.Trajectory:
    traj = art.Trajectory(messages_and_choices=[user.opening()])
    turns = 0
    while turns < 5:
        response = await model.openai_client().chat.completions.create(
            model=model.get_inference_name(), messages=traj.messages()
        )
        traj.messages_and_choices.append(response.choices[0])
        turns += 1
        said = await user.reply(response.choices[0].message.content)
        traj.messages_and_choices.append({"role": "user", "content": said})
        traj.reward = user.satisfaction()
        break  # <- ART217
    return traj
