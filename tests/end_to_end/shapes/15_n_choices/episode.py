REPLIES = [
    {"contents": ["Bread that rises early.", "Rise!", "The better half loaf."]},
    {"content": "Rise and brine!"},
]


def episode() -> str:
    from agent import write

    return write("A bakery with a pickle counter")
