OAK = {"room": "Oak", "day": "Monday"}
ELM = {"room": "Elm", "day": "Monday"}
REPLIES = [
    {"tool_calls": [{"name": "free_slots", "arguments": ELM}]},
    {"tool_calls": [{"name": "free_slots", "arguments": OAK}]},
    {"content": "Elm is full; Oak is free at 10:00 and 14:00."},
]


def episode() -> str:
    from agent import answer

    return answer("Is Elm or Oak free on Monday?")
