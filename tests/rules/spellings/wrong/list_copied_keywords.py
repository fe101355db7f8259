import art


async def rollout(model: art.TrainableModel, question) -> art.Trajectory:
    log = [{"role": "user", "content": question.text}]
    fields = dict(messages_and_choices=log, metadata={"id": question.id})
    traj = art.Trajectory(**fields)
    completion = await model.openai_client().chat.completions.create(
        model=model.get_inference_name(), messages=log
    )
    log.append(completion.choices[0])  # <- ART211
    traj.reward = question.rate(completion.choices[0].message.content)
    return traj
