import art


async def rollout(model: art.TrainableModel, riddle: str) -> art.Trajectory:
    client = model.openai_client()
    messages = [{"role": "user", "content": riddle}]
    completion = await client.chat.completions.create(model=model.get_inference_name, messages=messages)  # <- ART529
    reward = float("moon" in completion.choices[0].message.content)
    return art.Trajectory(messages_and_choices=[*messages, completion.choices[0]], reward=reward)
