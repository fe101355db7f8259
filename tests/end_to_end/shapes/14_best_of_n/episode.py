REPLIES = [{"content": "12"}, {"content": "13"}, {"content": "12"}]


def episode() -> str:
    from agent import answer

    return answer("A dozen, less none?")
