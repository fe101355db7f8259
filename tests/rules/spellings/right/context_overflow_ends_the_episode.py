import art
import openai


async def rollout(model, cave):
    client = model.openai_client()
    trajectory = art.Trajectory(messages_and_choices=[{"role": "user", "content": cave.view()}])
    while not cave.done:
        try:
            completion = await client.chat.completions.create(
                model=model.get_inference_name(), messages=trajectory.messages()
            )
        except openai.BadRequestError:  # the conversation is too long: the policy's doing
            break
        trajectory.messages_and_choices.append(completion.choices[0])
        cave.step(completion.choices[0].message.content)
    trajectory.reward = cave.depth()
    return trajectory
