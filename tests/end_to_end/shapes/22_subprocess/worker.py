"""Answers the prompt on its standard input."""

import sys

from openai import OpenAI


def main() -> None:
    response = OpenAI().chat.completions.create(
        model="gpt-4o-mini",
        messages=[{"role": "user", "content": sys.stdin.read()}],
    )
    print(response.choices[0].message.content)


if __name__ == "__main__":
    main()
