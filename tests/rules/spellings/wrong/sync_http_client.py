import art
import httpx

http = httpx.Client(base_url="http://localhost:9000")


def look_up(word: str) -> str:
    return http.get("/words", params={"q": word}).text  # <- ART512


async def rollout(model: art.TrainableModel, task) -> art.Trajectory:
    prompt = [{"role": "user", "content": task.text + look_up(task.word)}]
    completion = await model.openai_client().chat.completions.create(
        model=model.get_inference_name(), messages=prompt
    )
    choice = completion.choices[0]
    return art.Trajectory(messages_and_choices=[*prompt, choice], reward=task.rate(choice.message.content))
