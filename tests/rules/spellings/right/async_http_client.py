import art
import httpx


async def rollout(model: art.TrainableModel, task) -> art.Trajectory:
    async with httpx.AsyncClient(base_url="http://localhost:9000") as http:
        found = await http.get("/words", params={"q": task.word})
    prompt = [{"role": "user", "content": task.text + found.text}]
    completion = await model.openai_client().chat.completions.create(
        model=model.get_inference_name(), messages=prompt
    )
    choice = completion.choices[0]
    return art.Trajectory(messages_and_choices=[*prompt, choice], reward=task.rate(choice.message.content))
