"""Talks to the endpoint with requests, without an SDK."""

import os

import requests

BASE_URL = os.environ.get("OPENAI_BASE_URL", "https://api.openai.com/v1")
API_KEY = os.environ["OPENAI_API_KEY"]


def complete(messages: list[dict]) -> str:
    response = requests.post(
        f"{BASE_URL}/chat/completions",
        headers={"Authorization": f"Bearer {API_KEY}"},
        json={"model": "gpt-4o-mini", "messages": messages},
        timeout=60,
    )
    response.raise_for_status()
    return response.json()["choices"][0]["message"]["content"]


def answer(question: str) -> str:
    messages = [{"role": "user", "content": question}]
    draft = complete(messages)
    messages += [
        {"role": "assistant", "content": draft},
        {"role": "user", "content": "Shorter."},
    ]
    return complete(messages)
