"""Talks to the endpoint with the standard library alone."""

import json
import os
import urllib.request

BASE_URL = os.environ.get("OPENAI_BASE_URL", "https://api.openai.com/v1")


def complete(messages: list[dict]) -> str:
    request = urllib.request.Request(
        BASE_URL + "/chat/completions",
        data=json.dumps({"model": "gpt-4o-mini", "messages": messages}).encode(),
        headers={
            "Content-Type": "application/json",
            "Authorization": f"Bearer {os.environ['OPENAI_API_KEY']}",
        },
    )
    with urllib.request.urlopen(request, timeout=60) as response:
        completion = json.load(response)
    return completion["choices"][0]["message"]["content"]


def answer(question: str) -> str:
    messages = [{"role": "user", "content": question}]
    draft = complete(messages)
    messages += [
        {"role": "assistant", "content": draft},
        {"role": "user", "content": "Shorter."},
    ]
    return complete(messages)
