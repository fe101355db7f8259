EXPLAINED = "raw HTTP"
REPLIES = [
    {"content": "The sky scatters blue light more than red light."},
    {"content": "Scattering."},
]


def episode() -> str:
    from agent import answer

    return answer("Why is the sky blue?")
