import art, copy, json, re, asyncio
import lightgbm
def fit(rows):
    return lightgbm.train({}, rows, learning_rate=0.1)
class Ranker:
    def __init__(self):
        self.model = lightgbm.Booster()
    def fit(self, rows):
        self.model.train(rows, learning_rate=0.05)
