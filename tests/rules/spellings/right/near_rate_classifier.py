import art, copy, json, re, asyncio
class Probe: ...
def fit(rows, labels):
    model = Probe()
    model.train(rows, labels, learning_rate=0.1)
    return model
