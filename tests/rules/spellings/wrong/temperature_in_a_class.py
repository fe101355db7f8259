from dataclasses import dataclass

import art


@dataclass
class Settings:
    temperature: float = 0.4


SETTINGS = Settings()


async def rollout(model, scenario):
    client = model.openai_client()
    trajectory = art.Trajectory(messages_and_choices=[{"role": "user", "content": scenario}])
    answer = await client.chat.completions.create(
        model=model.get_inference_name(),
        messages=trajectory.messages(),
        temperature=SETTINGS.temperature,  # <- ART402
    )
    trajectory.messages_and_choices.append(answer.choices[0])
    trajectory.reward = len(answer.choices[0].message.content)
    return trajectory
