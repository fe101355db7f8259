import art


async def ask(model: art.TrainableModel, messages):
    response = await model.openai_client().chat.completions.create(
        model=model.get_inference_name(), messages=messages
    )
    return response.choices[0]


async def episode(model: art.TrainableModel, env) -> art.Trajectory:
    traj = art.Trajectory(messages_and_choices=[env.system()])
    while True:
        traj.messages_and_choices.append(env.observe())
        choice = await ask(model, traj.messages())
        try:
            done = env.step(choice.message.content)
        except ValueError as error:
            traj.logs.append(str(error))
            traj.reward = -1
            break  # <- ART218
        traj.messages_and_choices.append(choice)
        if done:
            traj.reward = env.score()
            break
    return traj
