EXPLAINED = "raw HTTP"
REPLIES = [
    {"content": "Salt lowers the temperature at which water freezes."},
    {"content": "It freezes later."},
]


def episode() -> str:
    from agent import answer

    return answer("Why is the road salted?")
