import argparse

import art

parser = argparse.ArgumentParser()
parser.add_argument("--temperature", type=float, required=True)
args = parser.parse_args()


async def rollout(model, scenario):
    client = model.openai_client()
    trajectory = art.Trajectory(messages_and_choices=[{"role": "user", "content": scenario}])
    answer = await client.chat.completions.create(
        model=model.get_inference_name(),
        messages=trajectory.messages(),
        temperature=args.temperature,
    )
    trajectory.messages_and_choices.append(answer.choices[0])
    trajectory.reward = len(answer.choices[0].message.content)
    return trajectory
