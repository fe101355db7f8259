"""Takes three drafts from one call and polishes the shortest."""

from openai import OpenAI

client = OpenAI()


def write(topic: str) -> str:
    messages = [
        {"role": "system", "content": "You write slogans."},
        {"role": "user", "content": topic},
    ]
    drafts = client.chat.completions.create(
        model="gpt-4o", messages=messages, n=3, temperature=0.9
    )
    texts = [choice.message.content for choice in drafts.choices]
    messages += [
        {"role": "assistant", "content": min(texts, key=len)},
        {"role": "user", "content": "Make it funnier."},
    ]
    response = client.chat.completions.create(model="gpt-4o", messages=messages)
    return response.choices[0].message.content
