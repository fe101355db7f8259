REPLIES = [
    {"content": "Tides follow the moon. They also follow the sun, and the coast."},
    {"content": "Tides"},
]


def episode() -> str:
    from agent import answer

    return answer("Why are there tides?")
