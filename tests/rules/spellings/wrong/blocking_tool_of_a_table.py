import json
import time

import requests
import art


def search(query: str) -> str:
    return requests.get("https://example.org", params={"q": query}).text  # <- ART512


def wait(seconds: int) -> str:
    time.sleep(seconds)  # <- ART512
    return "done"


def add(one: int, two: int) -> int:
    return one + two


TOOLS = {"search": search, "wait": wait, "add": add}


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
            result = TOOLS[call.function.name](**arguments)
            trajectory.messages_and_choices.append(
                {"role": "tool", "tool_call_id": call.id, "content": str(result)}
            )
    trajectory.reward = float(task["answer"] in str(trajectory.messages()[-1]["content"]))
    return trajectory
