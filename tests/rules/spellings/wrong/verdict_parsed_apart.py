import json

import art
from mylib import llm_judge


def as_json(reply: str):
    try:
        return json.loads(reply)
    except json.JSONDecodeError:  # <- ART313
        return {}


async def rollout(client, model, question):
    trajectory = art.Trajectory(messages_and_choices=[{"role": "user", "content": question}])
    response = await client.chat.completions.create(
        model=model.get_inference_name(), messages=trajectory.messages()
    )
    trajectory.messages_and_choices.append(response.choices[0])
    reply = await llm_judge(question, response.choices[0].message.content)
    verdict = as_json(reply)
    trajectory.reward = verdict.get("score", 0)
    return trajectory
