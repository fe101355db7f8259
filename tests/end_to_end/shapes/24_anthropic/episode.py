EXPLAINED = "the Anthropic client"
REPLIES = [{"content": "An onion tart."}, {"content": "A leek tart."}]


def episode() -> str:
    from agent import answer

    return answer("Eggs, onions, leeks: what do I cook?")
