import json
import requests

import art


def weather(city: str) -> str:
    return requests.get("https://example.org", params={"city": city}).text  # <- ART512


def clock(city: str) -> str:
    return f"noon in {city}"


def run_tool(name: str, arguments: dict) -> str:
    tools = {"weather": weather, "clock": clock}
    if name not in tools:
        return "no such tool"
    return tools[name](**arguments)


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
            result = run_tool(call.function.name, arguments)
            trajectory.messages_and_choices.append(
                {"role": "tool", "tool_call_id": call.id, "content": str(result)}
            )
    trajectory.reward = float(task["answer"] in str(trajectory.messages()[-1]["content"]))
    return trajectory
