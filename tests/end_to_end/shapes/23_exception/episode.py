REPLIES = [{"tool_calls": [{"name": "capital", "arguments": {"country": "Atlantis"}}]}]


def episode() -> str:
    from agent import answer

    return answer("What is the capital of Atlantis?")
