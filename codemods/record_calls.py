"""Put ``recorded(...)`` around the callee of each policy call.

That includes callees that are passed on instead of called: to a partial, a thread or a
helper that retries.
"""

from __future__ import annotations

from art_adapt.codemods.case import Case
from art_adapt.codemods.command import HookCommand


class RecordCalls(HookCommand):
    DESCRIPTION = "Record the calls of the OpenAI client that ask for a completion."
    hook = "recorded"


CASES = (
    Case(
        "a call",
        """
        from openai import OpenAI

        client = OpenAI()


        def ask(messages):
            return client.chat.completions.create(model="gpt-4o-mini", messages=messages)
        """,
        """
        from openai import OpenAI

        try:
            from art_recording import recorded
        except ImportError:  # imported from a package
            from .art_recording import recorded  # type: ignore[import-not-found]

        client = OpenAI()


        def ask(messages):
            return recorded(client.chat.completions.create)(
                model="gpt-4o-mini", messages=messages
            )
        """,
    ),
    Case(
        "a call over several lines, awaited, on an attribute",
        """
        class Agent:
            async def ask(self, messages):
                response = await self.client.beta.chat.completions.parse(
                    model=self.model,
                    messages=messages,
                )
                return response
        """,
        """
        try:
            from art_recording import recorded
        except ImportError:  # imported from a package
            from .art_recording import recorded  # type: ignore[import-not-found]


        class Agent:
            async def ask(self, messages):
                response = await recorded(self.client.beta.chat.completions.parse)(
                    model=self.model,
                    messages=messages,
                )
                return response
        """,
    ),
    Case(
        "a callee that is passed on",
        """
        import asyncio
        from functools import partial

        from openai import OpenAI

        create = partial(OpenAI().chat.completions.create, model="gpt-4o")


        async def ask(client, messages):
            return await asyncio.to_thread(client.chat.completions.create, messages=[])
        """,
        """
        import asyncio
        from functools import partial

        from openai import OpenAI

        try:
            from art_recording import recorded
        except ImportError:  # imported from a package
            from .art_recording import recorded  # type: ignore[import-not-found]

        create = partial(recorded(OpenAI().chat.completions.create), model="gpt-4o")


        async def ask(client, messages):
            return await asyncio.to_thread(
                recorded(client.chat.completions.create), messages=[]
            )
        """,
    ),
    Case(
        "an alias of the resource",
        """
        def ask(client, messages):
            completions = client.chat.completions
            return completions.with_raw_response.create(model="m", messages=messages)
        """,
        """
        try:
            from art_recording import recorded
        except ImportError:  # imported from a package
            from .art_recording import recorded  # type: ignore[import-not-found]


        def ask(client, messages):
            completions = client.chat.completions
            return recorded(completions.with_raw_response.create)(model="m", messages=messages)
        """,
    ),
    Case(
        "the header of a loop, an elif, a with statement",
        """
        def talk(client, messages, quick):
            if quick:
                pass
            elif client.chat.completions.create(messages=messages).choices:
                for chunk in client.chat.completions.create(messages=messages, stream=True):
                    print(chunk)
            with client.chat.completions.stream(messages=messages) as stream:
                return stream.get_final_completion()
        """,
        """
        try:
            from art_recording import recorded
        except ImportError:  # imported from a package
            from .art_recording import recorded  # type: ignore[import-not-found]


        def talk(client, messages, quick):
            if quick:
                pass
            elif recorded(client.chat.completions.create)(messages=messages).choices:
                for chunk in recorded(client.chat.completions.create)(
                    messages=messages, stream=True
                ):
                    print(chunk)
            with recorded(client.chat.completions.stream)(messages=messages) as stream:
                return stream.get_final_completion()
        """,
    ),
    Case(
        "a hook's name that the file uses",
        """
        import recorder

        recorded = recorder.start()


        def ask(client, messages):
            return client.chat.completions.create(model="m", messages=messages)
        """,
        """
        import recorder

        try:
            from art_recording import recorded as art_recorded
        except ImportError:  # imported from a package
            from .art_recording import recorded as art_recorded  # type: ignore[import-not-found]

        recorded = recorder.start()


        def ask(client, messages):
            return art_recorded(client.chat.completions.create)(model="m", messages=messages)
        """,
    ),
    Case(
        "the Responses API",
        """
        from openai import OpenAI

        client = OpenAI()


        def ask(question, previous=None):
            return client.responses.create(
                model="gpt-4.1", input=question, previous_response_id=previous
            )


        class Agent:
            def ask(self, question):
                with self.client.responses.stream(model="m", input=question) as stream:
                    return stream.get_final_response()
        """,
        """
        from openai import OpenAI

        try:
            from art_recording import recorded
        except ImportError:  # imported from a package
            from .art_recording import recorded  # type: ignore[import-not-found]

        client = OpenAI()


        def ask(question, previous=None):
            return recorded(client.responses.create)(
                model="gpt-4.1", input=question, previous_response_id=previous
            )


        class Agent:
            def ask(self, question):
                with recorded(self.client.responses.stream)(
                    model="m", input=question
                ) as stream:
                    return stream.get_final_response()
        """,
    ),
    Case(
        "litellm, by name, by module, and its router",
        """
        import litellm
        from litellm import Router, acompletion

        router = Router(model_list=[])


        async def ask(messages):
            first = await acompletion(model="m", messages=messages)
            second = litellm.completion("m", messages)
            return first, second, router.completion(model="m", messages=messages)
        """,
        """
        import litellm
        from litellm import Router, acompletion

        try:
            from art_recording import recorded
        except ImportError:  # imported from a package
            from .art_recording import recorded  # type: ignore[import-not-found]

        router = Router(model_list=[])


        async def ask(messages):
            first = await recorded(acompletion)(model="m", messages=messages)
            second = recorded(litellm.completion)("m", messages)
            return first, second, recorded(router.completion)(model="m", messages=messages)
        """,
    ),
    Case(
        "an instructor client",
        """
        import instructor
        from openai import OpenAI

        client = instructor.from_openai(OpenAI())


        def ask(messages, Answer):
            one = client.chat.completions.create(messages=messages, response_model=Answer)
            return one, client.create(messages=messages, response_model=Answer)
        """,
        """
        import instructor
        from openai import OpenAI

        try:
            from art_recording import recorded
        except ImportError:  # imported from a package
            from .art_recording import recorded  # type: ignore[import-not-found]

        client = instructor.from_openai(OpenAI())


        def ask(messages, Answer):
            one = recorded(client.chat.completions.create)(
                messages=messages, response_model=Answer
            )
            return one, recorded(client.create)(messages=messages, response_model=Answer)
        """,
    ),
    Case(
        "a method that older clients lack",
        """
        def ask(client, messages):
            completions = client.chat.completions
            new = getattr(completions, "parse", None)
            parse = new or client.beta.chat.completions.parse
            if getattr(completions, "stream", None):
                return getattr(completions, "stream")(model="m", messages=messages)
            return parse(model="m", messages=messages)
        """,
        """
        try:
            from art_recording import recorded
        except ImportError:  # imported from a package
            from .art_recording import recorded  # type: ignore[import-not-found]


        def ask(client, messages):
            completions = client.chat.completions
            new = recorded(getattr(completions, "parse", None))
            parse = new or recorded(client.beta.chat.completions.parse)
            if getattr(completions, "stream", None):
                return recorded(getattr(completions, "stream"))(model="m", messages=messages)
            return parse(model="m", messages=messages)
        """,
    ),
    Case(
        "no call of an agent's model",
        """
        def judge(judge_client, text):
            return judge_client.chat.completions.create(model="gpt-4o", messages=[text])


        def ask(client, messages):
            print(client.chat.completions.create.__doc__)
            return client.images.create(messages)
        """,
    ),
)
