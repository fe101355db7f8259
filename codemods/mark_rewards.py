"""Put ``reward(...)`` around the outcome where the agent itself computes one."""

from __future__ import annotations

from art_adapt.codemods.case import Case
from art_adapt.codemods.command import HookCommand


class MarkRewards(HookCommand):
    DESCRIPTION = "Mark the rewards that the agent computes."
    hook = "reward"


CASES = (
    Case(
        "returned beside the answer",
        """
        def play(client, game):
            total_reward = 0.0
            while not game.over:
                total_reward += game.step(client.chat.completions.create(messages=[]))
            return game.state, total_reward
        """,
        """
        try:
            from art_recording import reward
        except ImportError:  # imported from a package
            from .art_recording import reward  # type: ignore[import-not-found]


        def play(client, game):
            total_reward = 0.0
            while not game.over:
                total_reward += game.step(client.chat.completions.create(messages=[]))
            return game.state, reward(total_reward)
        """,
    ),
    Case(
        "computed into a name",
        """
        def solve(client, task):
            answer = client.chat.completions.create(messages=[task])
            reward = 1.0 if answer == task.expected else 0.0
            log(reward)
            return answer
        """,
        """
        try:
            from art_recording import reward as art_reward
        except ImportError:  # imported from a package
            from .art_recording import reward as art_reward  # type: ignore[import-not-found]


        def solve(client, task):
            answer = client.chat.completions.create(messages=[task])
            reward = art_reward(1.0 if answer == task.expected else 0.0)
            log(reward)
            return answer
        """,
    ),
    Case(
        "no reward",
        """
        def solve(client, task, reward=1.0):
            return client.chat.completions.create(messages=[task])
        """,
    ),
)
