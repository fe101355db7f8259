import json
import asyncio
import time

import art


async def wait(seconds: int) -> str:
    await asyncio.to_thread(time.sleep, seconds)
    return "done"


async def add(one: int, two: int) -> int:
    return one + two


TOOLS = {"wait": wait, "add": add}


async def rollout(model: art.TrainableModel, task: dict) -> art.Trajectory:
    trajectory = art.Trajectory(
        messages_and_choices=[{"role": "user", "content": task["question"]}], tools=task["tools"]
    )
    for _ in range(6):
        response = await model.openai_client().chat.completions.create(
            model=model.get_inference_name(),
            messages=trajectory.messages(),
            tools=task["tools"],
        )
        choice = response.choices[0]
        trajectory.messages_and_choices.append(choice)
        if not choice.message.tool_calls:
            break
        for call in choice.message.tool_calls:
            arguments = json.loads(call.function.arguments)
            result = await TOOLS[call.function.name](**arguments)
            trajectory.messages_and_choices.append(
                {"role": "tool", "tool_call_id": call.id, "content": str(result)}
            )
    trajectory.reward = float(task["answer"] in str(trajectory.messages()[-1]["content"]))
    return trajectory
