"""Put ``carried(...)`` around functions that run in threads and may call the policy."""

from __future__ import annotations

from art_adapt.codemods.case import Case
from art_adapt.codemods.command import HookCommand


class CarryContext(HookCommand):
    DESCRIPTION = "Keep the rollout's context in threads that call the model."
    hook = "carried"


CASES = (
    Case(
        "executors and threads",
        """
        import threading
        from concurrent.futures import ThreadPoolExecutor


        class Agent:
            def ask(self, question):
                return self.client.chat.completions.create(messages=[question])

            def run(self, questions):
                with ThreadPoolExecutor() as pool:
                    list(pool.map(self.ask, questions))
                    pool.submit(self.ask, questions[0])
                    pool.submit(print, "not the model")
                    pool.submit(lambda: self.ask(questions[0]))
                threading.Thread(target=self.ask, args=("why?",)).start()
        """,
        """
        import threading
        from concurrent.futures import ThreadPoolExecutor

        try:
            from art_recording import carried
        except ImportError:  # imported from a package
            from .art_recording import carried  # type: ignore[import-not-found]


        class Agent:
            def ask(self, question):
                return self.client.chat.completions.create(messages=[question])

            def run(self, questions):
                with ThreadPoolExecutor() as pool:
                    list(pool.map(carried(self.ask), questions))
                    pool.submit(carried(self.ask), questions[0])
                    pool.submit(print, "not the model")
                    pool.submit(carried(lambda: self.ask(questions[0])))
                threading.Thread(target=carried(self.ask), args=("why?",)).start()
        """,
    ),
    Case(
        "the default executor, but not to_thread, which carries the context itself",
        """
        import asyncio


        def ask(client, question):
            return client.chat.completions.create(messages=[question])


        async def run(client, question):
            loop = asyncio.get_running_loop()
            await loop.run_in_executor(None, ask, client, question)
            return await asyncio.to_thread(ask, client, question)
        """,
        """
        import asyncio

        try:
            from art_recording import carried
        except ImportError:  # imported from a package
            from .art_recording import carried  # type: ignore[import-not-found]


        def ask(client, question):
            return client.chat.completions.create(messages=[question])


        async def run(client, question):
            loop = asyncio.get_running_loop()
            await loop.run_in_executor(None, carried(ask), client, question)
            return await asyncio.to_thread(ask, client, question)
        """,
    ),
)
