REPLIES = [
    {"content": '{"kind": "invoice", "language": "German"}'},
    {"content": '{"number": "R-9", "total": 41.5, "currency": "EUR"}'},
]


def episode() -> str:
    from agent import read_invoice

    return read_invoice("Rechnung R-9, Summe 41,50 EUR")
