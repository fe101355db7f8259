import art


async def rollout(model: art.Model, task: str) -> art.Trajectory:
    record = art.Trajectory(messages_and_choices=[{"role": "user", "content": task}], reward=0.0)
    try:
        reply = await model.openai_client().chat.completions.create(
            model=model.get_inference_name(), messages=record.messages()
        )
        record.messages_and_choices.append(reply.choices[0])
        record.reward = grade(reply.choices[0].message.content)
    except Exception as error:  # <- ART305
        record.log(str(error))
    return record.finish()
