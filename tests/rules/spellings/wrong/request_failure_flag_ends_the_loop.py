import art
import openai


async def rollout(model, quarry):
    client = model.openai_client()
    trajectory = art.Trajectory(messages_and_choices=[{"role": "user", "content": quarry.view()}])
    going = True
    while going:
        try:
            completion = await client.chat.completions.create(
                model=model.get_inference_name(), messages=trajectory.messages()
            )
            trajectory.messages_and_choices.append(completion.choices[0])
            quarry.dig(completion.choices[0].message.content)
            going = not quarry.empty
        except (openai.APIError, TimeoutError):  # <- ART305
            going = False
    trajectory.reward = quarry.tons()
    return trajectory
