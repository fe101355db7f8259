"""Put ``final_answer(...)`` around the answers that an episode ends with."""

from __future__ import annotations

from art_adapt.codemods.case import Case
from art_adapt.codemods.command import HookCommand


class MarkAnswers(HookCommand):
    DESCRIPTION = "Mark the answers that the agent's entry point ends with."
    hook = "final_answer"


CASES = (
    Case(
        "returned, but not from an except clause",
        """
        def run(client, task):
            try:
                reply = client.chat.completions.create(messages=[task])
            except ValueError:
                return "failed"
            if not reply.choices:
                return None
            return reply.choices[0].message.content
        """,
        """
        try:
            from art_recording import final_answer
        except ImportError:  # imported from a package
            from .art_recording import final_answer  # type: ignore[import-not-found]


        def run(client, task):
            try:
                reply = client.chat.completions.create(messages=[task])
            except ValueError:
                return "failed"
            if not reply.choices:
                return None
            return final_answer(reply.choices[0].message.content)
        """,
    ),
    Case(
        "several values, an object over several lines, parentheses over several lines",
        """
        def run(client, task):
            reply = client.chat.completions.create(messages=[task])
            if task == 1:
                return reply, reply.id
            if task == 2:
                return Answer(
                    text=reply,
                    # why
                    sources=[
                        1,
                    ],
                )
            if task == 3:
                return (reply, reply.id)
            return (
                "a long text that takes a line of its own, and then some more of it,"
                " and goes on here"
            )
        """,
        """
        try:
            from art_recording import final_answer
        except ImportError:  # imported from a package
            from .art_recording import final_answer  # type: ignore[import-not-found]


        def run(client, task):
            reply = client.chat.completions.create(messages=[task])
            if task == 1:
                return final_answer(reply, reply.id)
            if task == 2:
                return final_answer(
                    Answer(
                        text=reply,
                        # why
                        sources=[
                            1,
                        ],
                    )
                )
            if task == 3:
                return final_answer((reply, reply.id))
            return final_answer(
                "a long text that takes a line of its own, and then some more of it,"
                " and goes on here"
            )
        """,
    ),
    Case(
        "stored",
        """
        class Agent:
            def run(self, task):
                reply = self.client.chat.completions.create(messages=[task])
                self.final_answer = reply.choices[0].message.content
        """,
        """
        try:
            from art_recording import final_answer
        except ImportError:  # imported from a package
            from .art_recording import final_answer  # type: ignore[import-not-found]


        class Agent:
            def run(self, task):
                reply = self.client.chat.completions.create(messages=[task])
                self.final_answer = final_answer(reply.choices[0].message.content)
        """,
    ),
    Case(
        "printed",
        """
        def chat(client, question):
            message = client.chat.completions.create(messages=[question]).choices[0].message
            print("Agent:", message.content)
        """,
        """
        try:
            from art_recording import final_answer
        except ImportError:  # imported from a package
            from .art_recording import final_answer  # type: ignore[import-not-found]


        def chat(client, question):
            message = client.chat.completions.create(messages=[question]).choices[0].message
            print("Agent:", final_answer(message.content))
        """,
    ),
)
