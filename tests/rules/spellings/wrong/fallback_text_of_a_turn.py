import art


async def rollout(model: art.Model, task: str) -> art.Trajectory:
    history = [{"role": "user", "content": task}]
    for _ in range(4):
        try:
            reply = await model.openai_client().chat.completions.create(
                model=model.get_inference_name(), messages=history
            )
            said = reply.choices[0].message.content
        except ValueError:
            said = "I do not know."
        history.append({"role": "assistant", "content": said})  # <- ART202
        history.append({"role": "user", "content": answer(said)})
    return art.Trajectory(messages_and_choices=history, reward=score(history))
