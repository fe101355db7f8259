"""Tool messages are made by a function of another file, which gets the calls."""

import art
from tool_runner import answer_all


async def rollout(model: art.TrainableModel, scenario) -> art.Trajectory:
    trajectory = art.Trajectory(messages_and_choices=[{"role": "user", "content": scenario}])
    client = model.openai_client()
    for _ in range(8):
        completion = await client.chat.completions.create(
            model=model.get_inference_name(), messages=trajectory.messages(), tools=TOOLS
        )
        choice = completion.choices[0]
        trajectory.messages_and_choices.append(choice)
        if not choice.message.tool_calls:
            break
        answer_all(trajectory, choice.message.tool_calls)
    trajectory.tools = TOOLS
    trajectory.reward = score(choice.message.content)
    return trajectory
