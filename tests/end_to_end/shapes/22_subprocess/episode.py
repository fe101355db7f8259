EXPLAINED = "no completion call found"
REPLIES = [
    {"content": "Warm air, cold glass."},
    {"content": "Warm air meets cold glass, and its water condenses."},
]


def episode() -> str:
    from agent import answer

    return answer("Why do windows mist up?")
