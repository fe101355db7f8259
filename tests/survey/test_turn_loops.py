"""Which loop asks turn after turn, and which only goes through data or samples."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

import pytest

from art_adapt.source import Source
from art_adapt.survey.model import Survey
from art_adapt.survey.survey import survey

START = "from openai import OpenAI\n\nclient = OpenAI()\n\n\n"
ASK = "client.chat.completions.create(model='m', messages=messages).choices[0].message"


def of(text: str) -> Survey:
    return survey([Source(Path("/nowhere/agent.py"), (START + dedent(text)).encode())])


def loops(text: str) -> list[tuple[str, str | None] | None]:
    found = [call.loop for call in of(text).calls]
    return [loop and (loop.header, loop.turn_limit) for loop in found]


@pytest.mark.parametrize(
    ("text", "header", "limit"),
    [
        (  # a conversation in a request
            """
            def run(task, turns):
                request = {"model": "m", "messages": [{"role": "user", "content": task}]}
                for _ in range(turns):
                    reply = client.chat.completions.create(**request).choices[0].message
                    request["messages"].append(reply)
            """,
            "for _ in range(turns)",
            "turns",
        ),
        (
            """
            def ask(state):
                return client.chat.completions.create(model="m", messages=state["messages"])

            def run(task, env):
                state = {"messages": [task]}
                while not env.over:
                    state["messages"] += [ask(state)]
            """,
            "while not env.over",
            None,
        ),
        (  # behind a bar that shows how far it is
            f"""
            def run(messages, turns):
                for turn in tqdm(range(turns)):
                    messages.append({ASK})
            """,
            "for turn in tqdm(range(turns))",
            "turns",
        ),
        (  # made anew, from what grows
            f"""
            def run(history, turns):
                for turn in range(turns):
                    messages = list(history)
                    history.append({ASK})
            """,
            "for turn in range(turns)",
            "turns",
        ),
        (  # in a request that was made before
            """
            def run(messages, turns):
                request = {"model": "m", "messages": messages}
                while turns:
                    reply = client.chat.completions.create(**request)
                    messages.append(reply)
            """,
            "while turns",
            None,
        ),
        (  # the break leaves a loop in it
            f"""
            def run(messages):
                while True:
                    for chunk in {ASK}.tool_calls:
                        if chunk:
                            messages.append(chunk)
                            break
            """,
            "while True",
            None,
        ),
    ],
)
def test_a_loop_that_extends_what_it_sends(
    text: str, header: str, limit: str | None
) -> None:
    assert loops(text) == [(header, limit)]


@pytest.mark.parametrize(
    "text",
    [
        # A conversation of its own for each row.
        f"""
        def run(questions):
            answers = []
            for question in questions:
                messages = [{{"role": "system", "content": "Be brief."}}]
                messages.append({{"role": "user", "content": question}})
                answers.append({ASK})
            return answers
        """,
        # What is added stands in a branch that leaves.
        f"""
        def run(messages):
            for attempt in range(3):
                reply = {ASK}
                if reply.content:
                    messages.append(reply)
                    return reply
        """,
        f"""
        def run(rows, messages):
            for row in tqdm(rows):
                {ASK}
        """,
        f"""
        def run(rows, messages):
            for start in range(0, len(rows), 20):
                {ASK}
        """,
    ],
)
def test_a_loop_over_data_or_attempts_is_none(text: str) -> None:
    assert loops(text) == [None]


AGAIN = {
    "the last failure is raised": (
        "    while True:\n        try:\n            return {ask}\n"
        "        except OSError:\n            if failures >= 5:\n                raise\n"
        "            failures += 1\n"
    ),
    "a count in a header": (
        "    for left in range(5):\n        try:\n            print('number', left)\n"
        "            return {ask}\n        except OSError as error:\n"
        "            if left == 4:\n                raise RuntimeError('lost') from error\n"
    ),
    "else": (
        "    while failures < 5:\n        failures += 1\n        try:\n            said = {ask}\n"
        "        except OSError:\n            if failures == 5:\n                return None\n"
        "            continue\n        else:\n            print(failures)\n            return said\n"
    ),
    "a break": (
        "    while True:\n        try:\n            said = {ask}\n            print(failures)\n"
        "            break\n        except OSError:\n            failures += 1\n"
        "            if failures > 3:\n                raise\n"
    ),
    "two kinds": (
        "    while True:\n        try:\n            print(failures)\n            return {ask}\n"
        "        except ValueError:\n            raise\n        except OSError:\n"
        "            if failures > 3:\n                raise\n            failures += 1\n"
    ),
}
TURNS = {
    "tools go on": (
        "    while True:\n        try:\n            said = {ask}\n            if said.tool_calls:\n"
        "                messages.append(said)\n                continue\n            return said\n"
        "        except OSError:\n            if failures > 3:\n                raise\n"
        "            failures += 1\n"
    ),
    "the model is told": (
        "    for left in range(5):\n        try:\n            return check({ask})\n"
        "        except ValueError as error:\n            if left == 4:\n                raise\n"
        "            messages.append({{'role': 'user', 'content': str(error)}})\n"
    ),
}


@pytest.mark.parametrize("kind", [*AGAIN, *TURNS])
def test_what_is_asked_again_after_a_failure_is_no_turn(kind: str) -> None:
    body = (AGAIN | TURNS)[kind].format(ask=ASK)
    (found,) = loops(f"def run(messages):\n    failures = 0\n{body}")
    assert (found is not None) == (kind in TURNS)


@pytest.mark.parametrize(
    ("test", "limit"),
    [
        ("count < most", "most"),
        ("not count >= most", "most"),
        ("not (count >= most)", "most"),
        ("not (most <= count)", "most"),
        ("not (done or count > most)", "most + 1"),
        ("not done and count <= most", "most + 1"),
    ],
)
def test_a_limit_may_be_written_as_what_ends_the_loop(test: str, limit: str) -> None:
    text = (
        "def run(messages, most, done=False):\n    count = 0\n"
        f"    while {test}:\n        count += 1\n        messages.append({ASK})\n"
    )
    (found,) = loops(text)
    assert found is not None and found[1] == limit


def test_a_call_after_which_the_loop_ends_is_made_once() -> None:
    found = loops(f"""
        def run(messages, turns):
            for _ in range(turns):
                reply = {ASK}
                if reply.refusal:
                    return close(messages)
                messages.append(reply)

        def close(messages):
            messages.append({{"role": "user", "content": "Answer now."}})
            return {ASK}
    """)
    assert found == [("for _ in range(turns)", "turns"), None]


def test_the_members_of_a_team_are_no_tools() -> None:
    """Each of them is asked; of a table of tools one is chosen."""
    found = of("""
        class Member:
            def __init__(self, name):
                self.messages = [{"role": "system", "content": name}]

            def respond(self, news):
                self.messages.append({"role": "user", "content": news})
                return close(self.messages)

        def close(messages):
            return client.chat.completions.create(model="m", messages=messages)

        class Captain:
            def __init__(self, task):
                self.messages = [{"role": "user", "content": task}]

            def conclude(self, answers):
                self.messages.append({"role": "user", "content": str(answers)})
                return client.chat.completions.create(model="m", messages=self.messages)

        def run(task, rounds):
            team, captain = [Member("a"), Member("b")], Captain(task)
            for _ in range(rounds):
                answers = [member.respond(task) for member in team]
                if captain.conclude(answers):
                    break
            return answers[0]
    """)
    assert {call.role.value for call in found.calls} == {"policy"}
    assert found.entry_points[0].called == "run"


@pytest.mark.parametrize(
    "leaves",
    [
        "if turns >= 8: break",
        "if 8 <= turns: break",
        "if turns < 8: continue\n        break",
        "if 8 > turns: continue\n        return messages",
        "if turns < 8:\n            pass\n        else:\n            break",
        "if turns == 8:\n            raise RuntimeError(turns)",
    ],
)
def test_a_bound_on_counted_turns_is_their_limit(leaves: str) -> None:
    text = (
        "def run(messages):\n    turns = 0\n    while True:\n        turns += 1\n"
        f"        messages.append({ASK})\n        {leaves}\n"
    )
    assert loops(text) == [("while True", "8")]


@pytest.mark.parametrize(
    "stays",
    [
        "if turns < 8: continue",
        "if turns >= 8: print(turns)",
        "if turns < 8: pass\n        break",
    ],
)
def test_a_bound_that_ends_nothing_is_no_limit(stays: str) -> None:
    text = (
        "def run(messages):\n    turns = 0\n    while True:\n        turns += 1\n"
        f"        messages.append({ASK})\n        {stays}\n        print(turns)\n"
    )
    assert [loop and loop[1] for loop in loops(text)] == [None]


VALIDATED = [
    """
    while True:
        try:
            goal = goals[int(input("Which? "))]
            break
        except (ValueError, IndexError):
            print("again")
    """,
    """
    chosen = ""
    while not chosen.isdigit():
        chosen = input("Which? ")
    goal = goals[int(chosen)]
    """,
    """
    for _ in range(3):
        chosen = input("Which? ")
        if chosen.isdigit():
            break
    goal = goals[int(chosen)]
    """,
    """
    chosen = input("Which? ")
    while not chosen.isdigit():
        chosen = input("A number: ")
    goal = goals[int(chosen)]
    """,
    """
    while (chosen := input("Which? ")) not in goals:
        print("one of", goals)
    goal = chosen
    """,
]


@pytest.mark.parametrize("question", VALIDATED)
def test_a_question_that_is_asked_until_its_answer_is_valid_is_no_turn(
    question: str,
) -> None:
    asks = f"    return {ASK}.content"
    found = of(
        f"def goals_of(topic: str):\n    messages = [dict(role='user', content=topic)]\n{asks}\n\n"
        f"def next_step(goal, steps):\n    messages = [dict(role='user', content=f'{{goal}} {{steps}}')]\n{asks}\n\n"
        "def analyse(topic: str):\n    goals = goals_of(topic).split()\n"
        f"    {question.strip()}\n"
        "    steps = []\n    for _ in range(5):\n        steps.append(next_step(goal, steps))\n    return steps\n"
    )
    assert found.entry_points[0].name == "analyse"


def test_a_loop_that_no_episode_runs_is_not_its_loop() -> None:
    """A scheduler calls what a command's handler calls as well."""
    text = f"""
        def horoscope(user):
            messages = [{{"role": "user", "content": user}}]
            return {ASK}.content

        def handler(request):
            return horoscope(request["user"])

        def schedule(queue, users):
            while True:
                queue.run_pending()
                for user in users:
                    print(horoscope(user))
        """
    whole = survey(
        [Source(Path("/nowhere/agent.py"), (START + dedent(text)).encode())],
        entry="agent:handler",
    )
    assert [call.loop for call in whole.calls] == [None]


# How a loop counts, and the limit of its turns.
COUNTED = {
    "each turn": ("while n < 9:", "n += 1", "9"),
    "each turn, of two": (
        "while found < 3 and n < 9:",
        "n += 1\n        found += ok()",
        "9",
    ),
    "each turn, before it goes on": (
        "while n < 9:",
        "n += 1\n        if not said:\n            continue",
        "9",
    ),
    "in both ways": (
        "while n < 9:",
        "if not said:\n            n += 1\n            continue\n        n += 1",
        "9",
    ),
    "only what is right": ("while n < 9:", "n += ok()", None),
    "only valid turns": (
        "while found < 3 and n < 9:",
        "if not said:\n            continue\n        n += 1\n        found += ok()",
        None,
    ),
    "only in a branch": ("while n < 9:", "if said:\n            n += 1", None),
    "an inner loop goes on": (
        "while n < 9:",
        "for each in said:\n            if not each:\n                continue\n        n += 1",
        "9",
    ),
    "whatever it is": ("while len(said) < 9:", "said += ok()", "9"),
    "by a sum": ("while n < 9:", "n = n + 1", "9"),
}


@pytest.mark.parametrize("kind", COUNTED)
def test_only_what_each_turn_counts_is_a_limit(kind: str) -> None:
    head, counting, limit = COUNTED[kind]
    text = (
        f"def run(messages):\n    n = found = 0\n    said = []\n    {head}\n"
        f"        messages.append({ASK})\n        {counting}\n"
    )
    assert [each and each[1] for each in loops(text)] == [limit]
