"""What a run of an agent shows decides what adapting takes for its episode."""

from __future__ import annotations

import json
import os
import shutil
import stat
import sys
from pathlib import Path
from textwrap import dedent, indent
from typing import Any

import pytest
from agent_files import art_adapt, first_now
from watched_agents import (
    AGENT,
    BESIDE,
    CALL,
    HEAD,
    LOOP,
    PLAN,
    QUESTION,
    RUNS,
    SAID,
    SHOWN,
    entry_of,
    function,
    patch_of,
    rows,
    watched,
)


@pytest.mark.parametrize("name", SHOWN)
def test_a_run_shows_the_episode_and_writes_its_row(name: str, tmp_path: Path) -> None:
    agent, replies, episode, row = SHOWN[name]
    done = watched(tmp_path, agent, replies)
    said = done.stderr.decode()
    assert done.returncode == 0, said
    assert f"episode  {episode} (agent.py:" in said
    assert row.items() <= rows(tmp_path)[0].items()
    assert entry_of(tmp_path) == {"value": episode, "origin": "seen"}


@pytest.mark.parametrize("size", ["small", "large"])
def test_the_factory_that_was_seen_makes_the_agent(size: str, tmp_path: Path) -> None:
    agent = AGENT + dedent("""\
        def small():
            agent = Agent(rounds=2)
            print(agent.add_tool(TOOLS[0]), "tool")
            return agent


        def large():
            agent = Agent(rounds=9)
            print(agent.add_tool(TOOLS[0]), "tool")
            return agent


        if __name__ == "__main__":
            agent = {"small": small, "large": large}[sys.argv[2]]()
            print(agent.run(sys.argv[1]))
        """)
    command = (sys.executable, "agent.py", QUESTION, size)
    watched(tmp_path, agent, [CALL, *SAID], *command)
    assert f"agent = {size}()" in patch_of(tmp_path)


# What a function returns, and whether each call of it returns another object.
RETURNS = {
    "a new one": ("def kept(rounds):\n    return Agent(rounds)\n\n\ndef make():\n    return kept(2)\n", True),
    "what a cache keeps": ("@functools.cache\ndef kept():\n    return Agent(2)\n\n\ndef make():\n    return kept()\n", False),
    "a module's": ("ONE = None\n\n\ndef kept():\n    global ONE\n    ONE = ONE or Agent(2)\n    return ONE\n\n\ndef make():\n    return kept()\n", False),
    "a class's": ("class Kept:\n    one = None\n\n    @classmethod\n    def get(cls):\n        cls.one = cls.one or Agent(2)\n        return cls.one\n\n\ndef make():\n    return Kept.get()\n", False),
    "a container's": ("class Kept:\n    def __init__(self):\n        self._one = Agent(2)\n\n    def get(self):\n        return self._one\n\n\nKEPT = Kept()\n\n\ndef make():\n    return KEPT.get()\n", False),
    "a new container's": ("class Kept:\n    def __init__(self):\n        self._one = Agent(2)\n\n    def get(self):\n        return self._one\n\n\ndef make():\n    return Kept().get()\n", True),
}  # fmt: skip


def test_a_factory_gets_the_model_s_name_that_the_run_asked(tmp_path: Path) -> None:
    """It chooses by the name, which is typed: the base model's is unknown to it."""
    agent = dedent("""\
        class Small:
            def __init__(self, model):
                self.model = model

            def ask(self, text):
                messages = [{"role": "user", "content": text}]
                reply = client.chat.completions.create(model=self.model, messages=messages)
                return reply.choices[0].message.content


        def made_for(model):
            if model.startswith("small-"):
                return Small(model)
            raise ValueError(f"unknown model {model}")


        if __name__ == "__main__":
            print(made_for(model=sys.argv[2]).ask(sys.argv[1]))
        """)
    command = (sys.executable, "agent.py", QUESTION, "small-7")
    watched(tmp_path, agent, SAID, *command)
    assert 'made_for(model="small-7")' in patch_of(tmp_path)


@pytest.mark.parametrize("kind", RETURNS)
def test_a_function_that_returns_what_is_kept_makes_no_agent(
    kind: str, tmp_path: Path
) -> None:
    """A run has shown that it returned the agent; another episode would get the same."""
    made, is_new = RETURNS[kind]
    agent = (
        f"import functools\n\n\n{AGENT}{made}\n\n{RUNS}print(make().run(sys.argv[1]))\n"
    )
    watched(tmp_path, agent, [CALL, *SAID])
    assert ("agent = make()" in patch_of(tmp_path)) is is_new


@pytest.mark.parametrize(
    "reads",
    [
        "input('> ')",
        "prompt_toolkit.prompt('> ')",
        "prompt_toolkit.PromptSession().prompt('> ')",
        "asyncio.run(prompt_toolkit.PromptSession().prompt_async('> '))",
    ],
    ids=["input", "prompt", "session", "async"],
)
def test_a_helper_of_a_chat_is_no_episode(reads: str, tmp_path: Path) -> None:
    """It is given the conversation, which goes on from one of its calls to the next."""
    agent = (
        "import asyncio\n\nimport prompt_toolkit\n\n\n"
        "def ask(messages):\n    return think(messages)\n\n\n"
        f"def main():\n    messages = []\n    while (said := {reads}) != 'end':\n"
        "        messages.append({'role': 'user', 'content': said})\n"
        "        messages.append({'role': 'assistant', 'content': ask(messages)})\n"
        "        print(messages[-1]['content'])\n\n\n" + RUNS + "main()\n"
    )
    shell = f"printf 'How are you?\\nAnd now?\\nend\\n' | {sys.executable} agent.py"
    replies = [{"content": "Fine."}, {"content": "Tired."}]
    watched(tmp_path, agent, replies, "sh", "-c", shell)
    assert entry_of(tmp_path)["value"] == "main"
    assert rows(tmp_path) == [{"inputs": ["How are you?", "And now?", "end"]}]


def test_lines_are_typed_where_another_function_chats(tmp_path: Path) -> None:
    """The class is given the agent's own prompt, which is no task beside what is typed."""
    agent = (
        "def loop(bot):\n    messages = [{'role': 'system', 'content': bot.persona}]\n"
        "    while (said := input('> ')) != 'end':\n"
        "        messages.append({'role': 'user', 'content': said})\n"
        "        messages.append({'role': 'assistant', 'content': bot.ask(messages)})\n"
        "        print(messages[-1]['content'])\n\n\n"
        "class Bot:\n    def __init__(self, persona):\n        self.persona = persona\n\n"
        "    def ask(self, messages):\n        return think(messages)\n\n"
        "    def chat(self):\n        loop(self)\n\n\n"
        + RUNS
        + 'Bot("You are a guide.").chat()\n'
    )
    shell = f"printf 'How are you?\\nAnd now?\\nend\\n' | {sys.executable} agent.py"
    watched(tmp_path, agent, [{"content": "Fine."}] * 2, "sh", "-c", shell)
    assert "inputs" in rows(tmp_path)[0]
    for seen in (True, False):
        if not seen:
            shutil.rmtree(tmp_path / ".art-adapt")
        patch = patch_of(tmp_path, "--entry", "Bot.chat")
        assert 'Bot(persona="You are a guide.")' in patch
        assert "run_command(agent.chat, inputs=scenario.inputs)" in patch
        assert "    persona:" not in patch


BOT = """\
class Bot:
    def __init__(self):
        self.messages = [{"role": "system", "content": "You are brief."}]

    def tell(self, text):
        self.messages.append({"role": "user", "content": text})

    def say(self):
        said = think(self.messages)
        self.messages.append({"role": "assistant", "content": said})
        return said

    def ask(self, text):
        self.tell(text)
        return self.say()


"""
TYPED = "printf 'How are you?\\nAnd now?\\nend\\n' | {} agent.py"
# What takes the turns of one conversation, and the function that is the episode.
BY_TURNS = {
    "a chat": (
        "def main():\n    bot = Bot()\n    while (said := input('> ')) != 'end':\n"
        "        print(bot.ask(said))\n",
        "main()",
        "main",
    ),
    "a constructor that chats": (
        "class Terminal:\n    def __init__(self):\n        self.bot = Bot()\n        self.start()\n\n"
        "    def start(self):\n        while (said := input('> ')) != 'end':\n"
        "            print(self.bot.ask(said))\n",
        "Terminal()",
        "Terminal.start",
    ),
    "a chat that a library's decorator retries": (
        "import tenacity\n\n\n"
        "class Retried(Bot):\n"
        "    @tenacity.retry(stop=tenacity.stop_after_attempt(2))\n"
        "    def ask(self, text):\n        return super().ask(text)\n\n\n"
        "def main():\n    bot = Retried()\n    while (said := input('> ')) != 'end':\n"
        "        print(bot.ask(said))\n",
        "main()",
        "main",
    ),
    "a game": (
        "def play(topic):\n    bot = Bot()\n    bot.tell('Guess the ' + topic)\n    for _ in range(2):\n"
        "        guess = bot.say()\n        bot.tell(guess + ' is wrong.')\n",
        "play(input('> '))",
        "play",
    ),
}


@pytest.mark.parametrize("kind", BY_TURNS)
def test_a_turn_of_a_conversation_is_a_step_of_what_takes_it(
    kind: str, tmp_path: Path
) -> None:
    """What it is given begins a turn each time; the function around it has all of them."""
    loop, started, episode = BY_TURNS[kind]
    agent = f"{BOT}{loop}\n\n{RUNS}{started}\n"
    replies = [{"content": "Fine."}, {"content": "Tired."}]
    watched(tmp_path, agent, replies, "sh", "-c", TYPED.format(sys.executable))
    assert entry_of(tmp_path)["value"] == episode
    assert len(rows(tmp_path)) == 1


ROWS = (
    "def score(row):\n    return think_of(row['ask']) == row['want']\n\n\n"
    "def evaluate(name, rows, by):\n    found = [by(row) for row in rows]\n"
    "    return {end}\n\n\n"
    "BANK = [{{'ask': 'Two and two?', 'want': '4'}}, {{'ask': 'Two and three?', 'want': '5'}}]\n\n\n"
)


@pytest.mark.parametrize(
    ("end", "episode", "count"),
    [
        ("sum(found)", "score", 2),
        ("think_of(f'Judge {name}: {found}')", "evaluate", 1),
    ],
)
def test_a_function_that_is_run_for_each_of_some_rows_is_the_episode(
    end: str, episode: str, count: int, tmp_path: Path
) -> None:
    """What asks once more, about all of them, works on one task."""
    agent = ROWS.format(end=end) + RUNS + "print(evaluate('sums', BANK, score))\n"
    watched(tmp_path, agent, SAID)
    assert entry_of(tmp_path)["value"] == episode
    assert len(rows(tmp_path)) == count


def test_what_a_library_s_wrapper_holds_is_asked_nothing(tmp_path: Path) -> None:
    """A proxy of it may raise whatever it is asked."""
    library = tmp_path / "site-packages"
    library.mkdir()
    (library / "wraps.py").write_text(
        "class Proxy:\n    def __getattribute__(self, name):\n        raise RuntimeError(name)\n\n\n"
        "def wrapped(function):\n    proxy = Proxy()\n\n    def wrapper(*given):\n"
        "        proxy and None\n        return function(*given)\n\n    return wrapper\n"
    )
    agent = (
        f"sys.path.insert(0, {str(library)!r})\nfrom wraps import wrapped\n\n\n@wrapped\n"
        + function("def solve(task):")
        + f"{RUNS}print(solve(sys.argv[1]))\n"
    )
    watched(tmp_path, agent, [CALL, *SAID])
    assert rows(tmp_path)[0]["task"] == QUESTION


BOARD = """\
class Board:
    def __init__(self, word):
        self.word, self.known, self.last, self.log = word, set(), "", []

    def take(self, guess):
        self.known |= set(guess) & set(self.word)

    def prompt(self):
        self.known |= set(self.last + "".join(self.log)) & set(self.word)
        return f"Guess {len(self.word)} letters with {sorted(self.known)}."


class Model:
    def ask(self, prompt):
        asked = [{"role": "user", "content": prompt}]
        return client.chat.completions.create(model="m", messages=asked).choices[0].message.content


"""
MOVES = {
    "a method": "board = Board(word)\nfor _ in range(3):\n    said = model.ask(board.prompt())\n    board.take(said)",
    "a name": "board = Board(word)\nfor _ in range(3):\n    text = board.prompt()\n    said = model.ask(text)\n    guess = said.lower()\n    board.take(guess)",
    "its list": "board = Board(word)\nfor _ in range(3):\n    board.log.append(model.ask(board.prompt()))",
    "its attribute": "board = Board(word)\nfor _ in range(3):\n    board.last = model.ask(board.prompt())",
    "while": "board, turns = Board(word), 0\nwhile turns < 3:\n    board.take(guess=model.ask(prompt=board.prompt()))\n    turns += 1",
}  # fmt: skip
# Rows of an evaluation, each of which is an episode.
ROWS_ASKED = {
    "a list": "said = []\nfor each in ('maple', 'birch', 'cedar'):\n    said.append(model.ask(f'Spell {each}.'))",
    "another object": "board = Board(word)\nfor each in ('maple', 'birch'):\n    board.take(model.ask(f'Spell {each}.'))",
    "a board each": "for each in ('maple', 'birch'):\n    board = Board(each)\n    print(model.ask(board.prompt()))",
}  # fmt: skip


@pytest.mark.parametrize("kind", [*MOVES, *ROWS_ASKED])
def test_a_loop_whose_board_is_told_the_moves_is_one_episode(
    kind: str, tmp_path: Path
) -> None:
    """The next question shows what follows from an answer, and not the answer."""
    body = indent((MOVES | ROWS_ASKED)[kind], "    ")
    play = f"def play(word):\n    model = Model()\n{body}\n"
    replies = [{"content": text} for text in ("crate", "crane", "crone")]
    watched(tmp_path, f"{BOARD}{play}\n\n{RUNS}play('crane')\n", replies)
    assert entry_of(tmp_path)["value"] == ("play" if kind in MOVES else "Model.ask")


def test_what_was_seen_and_is_told_nothing_is_refused_as_before(tmp_path: Path) -> None:
    game = (
        "def play():\n    bot = Bot()\n    bot.tell('Guess it.')\n    for _ in range(2):\n"
        "        bot.tell(bot.say() + ' is wrong.')\n"
    )
    replies = [{"content": "Fine."}, {"content": "Tired."}]
    watched(tmp_path, f"{BOT}{game}\n\n{RUNS}play()\n", replies)
    done = art_adapt("--diff", "--isolated", "agent.py", cwd=tmp_path)
    assert done.returncode == 2
    assert b"play() takes nothing that a scenario could set" in done.stderr
    assert entry_of(tmp_path, "--entry", "play")["origin"] == "flag"


def test_a_constructor_that_chats_is_run_as_a_command(tmp_path: Path) -> None:
    loop, started, _ = BY_TURNS["a constructor that chats"]
    (tmp_path / "agent.py").write_text(f"{HEAD}{BOT}{loop}\n\n{RUNS}{started}\n")
    patch = patch_of(tmp_path, "--entry", "Terminal.start")
    assert "return training.run_command(Terminal, inputs=scenario.inputs)" in patch


def test_a_turn_that_a_library_asks_for_is_an_episode(tmp_path: Path) -> None:
    """A server calls its handler for each turn, whatever function has started the server."""
    agent = (
        f"import sched\n\n{BOT}bot = Bot()\n\n\ndef handle(text):\n    print(bot.ask(text))\n\n\n"
        "def serve():\n    server = sched.scheduler()\n"
        "    for number, text in enumerate(['Who are you?', 'And now?']):\n"
        "        server.enter(0, number, handle, (text,))\n    server.run()\n\n\n"
        f"{RUNS}serve()\n"
    )
    replies = [{"content": "A guide, of course."}, {"content": "Still a guide."}]
    said = watched(tmp_path, agent, replies).stderr.decode()
    assert [row["text"] for row in rows(tmp_path)] == ["Who are you?", "And now?"]
    assert "1 row began with the reply of an earlier episode" in said
    assert 'delete {"' in said, "it says which"


def test_of_what_one_turn_does_not_tell_apart_the_outermost_is_the_episode(
    tmp_path: Path,
) -> None:
    """Reading cannot tell either: what the engine is handed has no class there."""
    (tmp_path / "engine.py").write_text(
        "class Engine:\n    def __init__(self, bot):\n        self.bot = bot\n\n"
        "    def query(self, question):\n        text = question\n        for _ in range(4):\n"
        "            reply = self.bot(text)\n            print(reply)\n"
        "            if 'Action' not in reply:\n                return\n"
        "            text = 'Observation: ' + reply\n"
    )
    (tmp_path / "main.py").write_text(
        "import sys\n\nfrom agent import Bot\nfrom engine import Engine\n\n\n"
        "def main(question):\n    bot = Bot()\n    engine = Engine(bot)\n    engine.query(question)\n\n\n"
        f"{RUNS}main(sys.argv[1])\n"
    )
    command = (sys.executable, "main.py", QUESTION)
    bot = BOT.replace("def ask(", "def __call__(")
    watched(tmp_path, bot, [{"content": "Fine."}], *command)
    assert entry_of(tmp_path) == {"value": "main", "origin": "seen"}


THREADS = {
    "any key": "key = str(time.time_ns())",
    "a file": "key = uuid.uuid4().hex\n    open(key, 'w').close()",
    "a counter": "key = f'thread-{len(KEPT)}'",
}


@pytest.mark.parametrize("kind", THREADS)
@pytest.mark.parametrize("told", [False, True])
def test_a_key_that_a_call_returned_is_opened_anew(
    kind: str, told: bool, tmp_path: Path
) -> None:
    """The agent does without, so that reading could not tell: its prompt would be lost.

    What has to be told something is left to reading: it may be told a secret.
    """
    agent = (
        f"import time\nimport uuid\n\nKEPT = {{}}\n\n\ndef begin({'tone' if told else ''}):\n"
        f"    {THREADS[kind]}\n"
        "    KEPT[key] = [{'role': 'system', 'content': 'Be brief.'}]\n    return key\n\n\n"
        "def send(text, key):\n    messages = KEPT.setdefault(key, [])\n"
        "    messages.append({'role': 'user', 'content': text})\n"
        "    said = think(messages)\n    messages.append({'role': 'assistant', 'content': said})\n"
        f"    return said\n\n\n{RUNS}key = begin({'sys.argv[1]' if told else ''})\n"
        "    print(send(sys.argv[1], key))\n"
    )
    watched(tmp_path, agent, SAID)
    opened = "send(text=scenario.text, key=begin())" in patch_of(tmp_path)
    assert opened is not told
    assert told or rows(tmp_path) == [{"text": QUESTION}]


def test_a_key_that_a_call_is_given_otherwise_is_no_opened_one(tmp_path: Path) -> None:
    agent = (
        "def mode():\n    return 'open'\n\n\n"
        "def answer(text, mode):\n    return think([{'role': 'user', 'content': text}])\n\n\n"
        f"{RUNS}mode()\n    print(answer(sys.argv[1], 'open'))\n"
    )
    watched(tmp_path, agent, SAID)
    assert "mode=mode()" not in patch_of(tmp_path)


def test_a_task_that_a_call_returned_stays_the_scenarios(tmp_path: Path) -> None:
    """The model is asked about it; what loads it is the run's own."""
    agent = (
        function("def answer(task):")
        + "def load(name):\n    return {'a': 'Is it sunny in Rome?'}[name]\n\n\n"
        + f"{RUNS}print(answer(load('a')))\n"
    )
    watched(tmp_path, agent, [CALL, *SAID])
    assert "answer(task=scenario.task)" in patch_of(tmp_path)


def test_a_text_that_is_too_long_is_left_out(tmp_path: Path) -> None:
    agent = (
        "def answer(text, wanted):\n    return think([{'role': 'user', 'content': wanted + text[:9]}])\n\n\n"
        f"{RUNS}print(answer(sys.argv[1] * 20_000, 'Rome'))\n"
    )
    done = watched(tmp_path, agent, SAID)
    assert "text" not in (*rows(tmp_path), {})[0]
    assert (
        b"no row was written: text cannot be stored as JSON (text of 400000 characters)"
        in done.stderr
    )


def test_a_set_up_call_is_taken_over(tmp_path: Path) -> None:
    agent = AGENT + dedent("""\
        def demo():
            agent = Agent()
            agent.add_task("Is it cold?")
            return agent.run()


        def work(question):
            agent = Agent(rounds=7)
            agent.add_tool(TOOLS[0])
            agent.add_task(question)
            return agent.run()


        if __name__ == "__main__":
            print(work(sys.argv[1]))
        """)
    done = watched(tmp_path, agent, [CALL, *SAID])
    assert "episode  work" in done.stderr.decode()
    assert rows(tmp_path) == [{"question": QUESTION}]


@pytest.mark.parametrize(
    "loop",
    [
        "text = think_of(chr(10).join(notes))",
        "text = think([{'role': 'user', 'content': str(notes)}])",
        "text = Llm().ask(prompt=' '.join(notes))",
    ],
)
def test_what_the_module_itself_drives_is_no_helper_s_episode(
    loop: str, tmp_path: Path
) -> None:
    agent = (
        "class Llm:\n    def ask(self, prompt: str) -> str:\n        return think_of(prompt)\n\n\n"
        "notes = ['How is the weather?']\nfor _ in range(5):\n"
        f"    {loop}\n    notes.append(text)\n"
        "    if 'DONE' in text:\n        break\n    notes.append('Saw: rain')\n"
    )
    replies = [
        {"content": "DO weather(Rome) please"},
        {"content": "DONE it rains in Rome"},
    ]
    done = watched(tmp_path, agent, replies)
    assert done.returncode == 2
    done = art_adapt("--diff", "--isolated", "agent.py", cwd=tmp_path)
    assert done.returncode == 2 and not done.stdout
    assert "the agent runs at module level" in done.stderr.decode()


STEPS = (
    "def draft(topic):\n    return think_of('Write about ' + topic)\n\n\n"
    "def polish(topic, text):\n    return think_of(f'Polish, about {topic}: {text}')\n\n\n"
)


@pytest.mark.parametrize(
    "module",
    first_now(
        [
            "print(polish(sys.argv[1], draft(sys.argv[1])))\n",
            "text = draft(sys.argv[1])\nprint(polish(sys.argv[1], text))\n",
            "for topic in sys.argv[1:]:\n    text = draft(topic)\n    print(polish(topic, text))\n",
        ]
    ),
)
def test_a_part_whose_result_is_worked_on_is_no_episode(
    module: str, tmp_path: Path
) -> None:
    done = watched(tmp_path, STEPS + module, SAID)
    assert done.returncode == 0, done.stderr.decode()
    assert entry_of(tmp_path) == {"value": "<module>", "origin": "seen"}


READERS = {
    "a judge": ("judge", "Is this right? {}"),
    "questions that follow": ("follow_up", "What else would one ask after this: {}"),
}


@pytest.mark.parametrize("where", ["", "def main():\n    "])
@pytest.mark.parametrize("reader", first_now(READERS))
def test_what_takes_turns_is_whole_whoever_reads_its_answer(
    reader: str, where: str, tmp_path: Path
) -> None:
    name, prompt = READERS[reader]
    agent = (
        function("def solve(task):")
        + f"def {name}(answer):\n    return think_of('{prompt}'.format(answer))\n\n\n"
        + f"{where}for task in sys.argv[1:]:\n"
        + f"{'    ' * bool(where)}    print({name}(solve(task)))\n"
        + ("\n\nmain()\n" if where else "")
    )
    watched(tmp_path, agent, SAID)
    assert entry_of(tmp_path)["value"] == "solve"


@pytest.mark.parametrize(
    "ends", first_now(["raise ValueError(text)", "return text[999]"])
)
def test_a_run_that_an_exception_ended_shows_no_more_than_parts(
    ends: str, tmp_path: Path
) -> None:
    agent = (
        "class Player:\n    def speak(self, state):\n        return think_of(f'Speak: {state}')\n\n\n"
        "def check(text):\n    if not text.startswith('OK'):\n"
        f"        {ends}\n    return text\n\n\n"
        "class Game:\n    def __init__(self, seed):\n        self.seed, self.players, self.said = seed, [Player(), Player()], []\n\n"
        "    def run(self):\n        for player in self.players:\n"
        "            self.said.append(check(player.speak('said so far: ' + str(self.said))))\n"
        f"        return think_of(str(self.said))\n\n\n{RUNS}Game(len(sys.argv)).run()\n"
    )
    (tmp_path / "agent.py").write_text(HEAD + agent)
    assert entry_of(tmp_path)["value"] == "Game.run"  # by reading alone
    watched(tmp_path, agent, [{"content": "no verdict"}])
    assert entry_of(tmp_path) == {"value": "Game.run", "origin": "found"}
    told = art_adapt("--diff", "agent.py", cwd=tmp_path).stderr.decode()
    assert "1 run, which an error ended" in told


def test_what_an_error_left_shows_no_more_than_parts(tmp_path: Path) -> None:
    """Reading takes neither what the error left nor what it left behind."""
    agent = (
        "class Judge:\n    def moderate(self, said):\n"
        "        if think([{'role': 'user', 'content': f'Allow {said}?'}]) != 'yes':\n"
        "            raise ValueError(said)\n\n\n"
        "class Quiet:\n    def moderate(self, said):\n"
        "        return think([{'role': 'user', 'content': f'Quietly allow {said}?'}])\n\n\n"
        "def main(players):\n    try:\n        for name in players:\n"
        "            said = think([{'role': 'user', 'content': f'You are {name}.'}])\n"
        "            Judge().moderate(said)\n"
        "    except ValueError as error:\n        raise SystemExit(f'stopped: {error}')\n\n\n"
        f"{RUNS}main(['Ann', 'Bob'])\n"
    )
    done = watched(tmp_path, agent, SAID)
    assert "episode  think" not in done.stderr.decode(), done.stderr.decode()


def test_a_conversation_s_helper_gives_way_to_what_reading_takes(
    tmp_path: Path,
) -> None:
    agent = (
        "def search(args):\n    found = []\n    for _ in range(args.rounds):\n"
        "        asked = [{'role': 'user', 'content': f'Archive: {found}'}]\n"
        "        said = think(asked)\n"
        "        asked += [{'role': 'assistant', 'content': said.upper()}, {'role': 'user', 'content': 'Reflect.'}]\n"
        "        found.append(think(asked))\n    print(found)\n\n\n"
        "import argparse\n\n"
        f"{RUNS}parser = argparse.ArgumentParser()\n"
        "    parser.add_argument('--rounds', type=int, default=2)\n    search(parser.parse_args())\n"
    )
    done = watched(tmp_path, agent, SAID * 2, sys.executable, "agent.py")
    assert "episode  search" in done.stderr.decode(), done.stderr.decode()
    assert entry_of(tmp_path)["value"] == "search"


def test_a_method_of_a_base_class_in_another_file_is_its_class_s(
    tmp_path: Path,
) -> None:
    (tmp_path / "base.py").write_text(
        "class Base:\n    def __init__(self, word):\n        self.word = word\n\n"
        "    def play(self):\n"
        "        for turn in range(2):\n            self.speak(f'{turn}: say {self.word}')\n"
    )
    (tmp_path / "game.py").write_text(
        "from agent import think_of\nfrom base import Base\n\n\n"
        "class Game(Base):\n    def speak(self, text):\n        return think_of(text)\n"
    )
    (tmp_path / "main.py").write_text(
        "import sys\n\nfrom game import Game\n\nGame(sys.argv[1]).play()\n"
    )
    run = (sys.executable, "main.py", "lantern")
    done = watched(tmp_path, "", SAID, *run, options=("--agent", "agent.py"))
    assert "episode  Game.play" in done.stderr.decode(), done.stderr.decode()
    assert entry_of(tmp_path)["origin"] == "seen"
    assert "Game(word=scenario.word)" in patch_of(tmp_path)


FLOWS = """\
def run(node, shared):
    while node is not None:
        step = getattr(node, "".join(["ex", "ec"]))
        node = node.following.get(step(shared))
"""
NODES = (
    "import flows\n\n\n"
    "class Node:\n    def __init__(self):\n        self.following = {}\n\n\n"
    "class Decide(Node):\n    def exec(self, shared):\n"
    "        return json.loads(think_of('Return JSON. ' + shared['question']))['action']\n\n\n"
    "class Answer(Node):\n    def exec(self, shared):\n"
    "        shared['answer'] = think_of('Answer: ' + shared['question'])\n\n\n"
    "def main():\n    decide = Decide()\n    decide.following['answer'] = Answer()\n"
    "    shared = {'question': sys.argv[1]}\n    flows.run(decide, shared)\n"
    f"    print(shared['answer'])\n\n\n{RUNS}main()\n"
)


@pytest.mark.parametrize("ends", [True, False])
def test_what_is_around_the_steps_of_a_framework_is_the_episode(
    ends: bool,
    tmp_path: Path,
    tmp_path_factory: pytest.TempPathFactory,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Reading finds two steps that are nearly as likely. A run that fails in the first decides nothing."""
    elsewhere = tmp_path_factory.mktemp("library")
    (elsewhere / "flows.py").write_text(FLOWS)
    monkeypatch.setenv("PYTHONPATH", f"{elsewhere}", prepend=os.pathsep)
    action = {"content": '{"action": "answer"}' if ends else "no JSON"}
    done = watched(tmp_path, NODES, [action, SAID[0]])
    said = done.stderr.decode() + done.stdout.decode()
    if ends:
        assert rows(tmp_path) == [{"arguments": [QUESTION]}], said
        assert entry_of(tmp_path) == {"value": "main", "origin": "seen"}
    else:
        told = entry_of(tmp_path)  # it is asked about, or said that another is near
        assert told["origin"] == "found", said


INJECTED = {
    "llm.py": (
        "from openai import OpenAI\n\n\nclass Client:\n    def __init__(self):\n"
        "        self.client = OpenAI()\n\n    def generate(self, prompt):\n"
        "        asked = [{'role': 'user', 'content': prompt}]\n"
        "        reply = self.client.chat.completions.create(model='m', messages=asked)\n"
        "        return reply.choices[0].message.content\n"
    ),
    "agent.py": (
        "class Agent:\n    def __init__(self, llm):\n        self.llm = llm\n\n"
        "    def run(self, message):\n"
        "        return self.llm.generate(f'Answer: {message}').strip()\n"
    ),
    "main.py": (
        "import sys\n\nfrom agent import Agent\nfrom llm import Client\n\n"
        "if __name__ == '__main__':\n    print(Agent(Client()).run(sys.argv[1]))\n"
    ),
}


@pytest.mark.parametrize("named", INJECTED)
def test_whichever_file_is_named_the_run_shows_the_same(
    named: str, tmp_path: Path
) -> None:
    """The client is given to the agent: neither file imports the other."""
    (tmp_path / "pyproject.toml").touch()
    for name, text in INJECTED.items():
        (tmp_path / name).write_text(text)
    options = ("--scripted", "--", sys.executable, "main.py", QUESTION)
    done = art_adapt("capture", *options, cwd=tmp_path)
    assert done.returncode == 0, done.stderr.decode()
    done = art_adapt("--diff", "--json", "--isolated", named, cwd=tmp_path)
    assert done.returncode == 1, done.stderr.decode()
    entry = json.loads(done.stdout)["decisions"]["entry"]
    assert entry["origin"] == "seen" and entry["value"].endswith("Agent.run")


@pytest.mark.parametrize(
    "asks",
    first_now(
        [
            "reply = think(messages)",
            "reply = Llm().ask(messages)",
            "reply = client.chat.completions.create(model='m', messages=messages).choices[0].message.content",
        ]
    ),
)
def test_a_script_that_was_watched_is_the_episode(asks: str, tmp_path: Path) -> None:
    agent = (
        "class Llm:\n    def ask(self, messages):\n        return think(messages)\n\n\n"
        "messages = []\nwhile True:\n    line = input('> ')\n    if line == 'q':\n        break\n"
        f"    messages.append({{'role': 'user', 'content': line}})\n    {asks}\n"
        "    messages.append({'role': 'assistant', 'content': reply})\n    print(reply)\n"
    )
    run = f"printf 'Why?\\nSince when?\\nq\\n' | {sys.executable} agent.py"
    done = watched(tmp_path, agent, SAID, "sh", "-c", run)
    assert rows(tmp_path)[0]["inputs"] == ["Why?", "Since when?", "q"], done.stderr
    assert entry_of(tmp_path) == {"value": "<module>", "origin": "seen"}
    told = art_adapt("--diff", "agent.py", cwd=tmp_path).stderr.decode()
    assert "(seen in 1 run)" in told and "nearly as likely" not in told
    told = art_adapt("explain", "--entry", "agent.py", cwd=tmp_path).stdout.decode()
    assert "Seen in 1 run: the file itself ran the conversation" in told
    assert "no path from it" not in told.partition("2.")[0]


def test_what_options_and_set_up_take_are_fields(tmp_path: Path) -> None:
    agent = (
        "class Client:\n    def __init__(self):\n        self.place = None\n\n"
        "    def connect(self, place):\n        self.place = place\n\n"
        + indent(
            function("def ask(self, *rest, **words):", "task = words['task']\n" + LOOP),
            "    ",
        )
        + "def main():\n    made = Client()\n    made.connect(sys.argv[2])\n"
        "    print(made.ask(task=sys.argv[1]))\n\n\nmain()\n"
    )
    done = watched(
        tmp_path, agent, [CALL, *SAID], sys.executable, "agent.py", QUESTION, "Rome"
    )
    assert rows(tmp_path) == [{"task": QUESTION, "place": "Rome"}], done.stderr.decode()
    patch = patch_of(tmp_path)
    assert "agent.connect(place=scenario.place)" in patch
    assert "agent.ask(task=scenario.task)" in patch


@pytest.mark.parametrize(
    ("typed", "row"),
    [
        ("90000", {"task": QUESTION, "budget": 90000}),
        ("110000", {"task": QUESTION}),  # what the command has anyway
        ("7", {"task": QUESTION}),  # it may stand in a prompt by chance
        ("500", {"task": QUESTION}),  # the prompt has it whatever is typed
    ],
)
def test_a_number_that_the_model_is_asked_about_is_a_field(
    typed: str, row: dict[str, Any], tmp_path: Path
) -> None:
    loop = LOOP.replace(
        '"content": task}', '"content": f"{task} 500 words. Budget: {budget} EUR"}'
    )
    agent = (
        function("def solve(task: str, budget: int):", loop)
        + "import argparse\nparser = argparse.ArgumentParser()\nparser.add_argument('task')\n"
        "parser.add_argument('--budget', type=int, default=110_000)\n"
        "if __name__ == '__main__':\n    args = parser.parse_args()\n"
        "    print(solve(args.task, args.budget))\n"
    )
    command = (sys.executable, "agent.py", QUESTION, "--budget", typed)
    watched(tmp_path, agent, [CALL, *SAID], *command)
    assert rows(tmp_path) == [row]


def test_two_runs_show_what_stays_the_same(tmp_path: Path) -> None:
    agent = function("def answer(task, tone, user):") + (
        'KNOWN = json.loads(\'{"tone": "friendly", "user": {"id": 7}}\')\n'
        "if __name__ == '__main__':\n    print(answer(sys.argv[1], **KNOWN))\n"
    )
    done = watched(tmp_path, agent, [CALL, *SAID])
    assert "what then differs is a field (now task, tone, user)" in done.stderr.decode()
    assert "    tone: str\n" in patch_of(tmp_path).replace("+", "")
    watched(tmp_path, agent, SAID, sys.executable, "agent.py", "Is it cold in Oslo?")
    patch = patch_of(tmp_path)
    assert (
        "answer(task=scenario.task, tone='friendly', user={'id': 7})"
        in patch.replace('"', "'")
    )
    assert [row["task"] for row in rows(tmp_path)] == [QUESTION, "Is it cold in Oslo?"]


KIND = "import datetime\nimport enum\n\n\nclass Kind(str, enum.Enum):\n    LONG = 'long'\n\n\n"


def test_a_member_of_an_enumeration_is_its_value(tmp_path: Path) -> None:
    agent = (
        KIND
        + function("def solve(task: str, kind: Kind):")
        + f"{RUNS}print(solve(sys.argv[1], Kind.LONG))\n"
    )
    watched(tmp_path, agent, [CALL, *SAID])
    row = rows(tmp_path)[0]
    assert (row["task"], row["kind"]) == (QUESTION, "long")


def test_what_a_row_has_as_text_is_said(tmp_path: Path) -> None:
    agent = (
        KIND
        + function("def solve(task, stock):")
        + f"{RUNS}print(solve(sys.argv[1], {{'milk': datetime.date(2026, 12, 2)}}))\n"
    )
    done = watched(tmp_path, agent, [CALL, *SAID])
    assert "stock holds values of date, which the rows have as" in done.stderr.decode()
    assert rows(tmp_path)[0]["stock"] == {"milk": "2026-12-02"}


@pytest.mark.parametrize(
    ("keeps", "told", "said"),
    [
        ("self.last = reply", " after {self.last}", True),
        ("pass", "", False),
    ],
)
def test_a_row_that_an_earlier_episode_has_begun_is_said(
    keeps: str, told: str, said: bool, tmp_path: Path
) -> None:
    agent = (
        "class Bot:\n    def __init__(self):\n        self.kept, self.last = [], ''\n\n"
        "    def handle(self, text):\n"
        f"        asked = [*self.kept, {{'role': 'user', 'content': f'{{text}}{told}'}}]\n"
        "        reply = think(asked)\n"
        "        asked.append({'role': 'assistant', 'content': reply})\n"
        f"        {keeps}\n        return reply\n\n\n"
        "def serve(texts):\n    bot = Bot()\n    return list(map(bot.handle, texts))\n\n\n"
        f"{RUNS}serve(iter(['Who are you?', 'And why is that so?']))\n"
    )
    done = watched(tmp_path, agent, SAID, sys.executable, "agent.py")
    assert len(rows(tmp_path)) == 2
    began = "1 row began with the reply of an earlier episode" in done.stderr.decode()
    assert began is said


def test_a_second_task_settles_what_a_first_one_leaves_open(tmp_path: Path) -> None:
    agent = (
        function("def solve(task, city):")
        + f"{RUNS}print(solve(sys.argv[1], sys.argv[2]))\n"
    )
    for task, city in ((QUESTION, "Rome"), ("Is it cold there?", "Oslo")):
        command = (sys.executable, "agent.py", task, city)
        said = watched(tmp_path, agent, SAID, *command).stderr.decode()
        assert ("run it once more, with another task" in said) is (city == "Rome")


@pytest.mark.parametrize("made", ["a class", "a function"])
def test_a_number_or_switch_that_a_run_sets_is_its_agent_s(
    made: str, tmp_path: Path
) -> None:
    """It is typed, so that reading finds the defaults. A text may be private: a row says it."""
    parameters = "rounds=9, strict=True, folder='here'"
    given = "int(sys.argv[2]), '--lax' not in sys.argv, sys.argv[3]"
    if made == "a class":
        agent = (
            f"class Solver:\n    def __init__(self, {parameters}):\n"
            "        self.rounds, self.strict = rounds, strict\n\n"
            + indent(function("def solve(self, task):"), "    ")
            + f"{RUNS}print(Solver({given}).solve(sys.argv[1]))\n"
        )
        call = "Solver(rounds=2, strict=False)"
    else:
        agent = (
            function(f"def solve(task, {parameters}):")
            + f"{RUNS}print(solve(sys.argv[1], {given}))\n"
        )
        call = "rounds=2, strict=False, folder=scenario.folder"
    command = (sys.executable, "agent.py", QUESTION, "2", "/home/me", "--lax")
    watched(tmp_path, agent, [CALL, *SAID], *command)
    assert call in patch_of(tmp_path)


@pytest.mark.parametrize(
    ("default", "given"),
    [
        ("pin=0", "48291377"),  # somebody's own
        ("token=1", "77"),
        ("started=0.0", "__import__('time').time()"),  # made anew in each run
        ("budget=1.0", "float('inf')"),  # no literal
        ("mode=None", "__import__('enum').Enum('Mode', 'A B').B"),  # no number
        ("ticket=1", "7"),  # what the model is asked about
    ],
)
def test_another_value_that_a_run_gives_is_left_to_its_default(
    default: str, given: str, tmp_path: Path
) -> None:
    name = default.partition("=")[0]
    loop = LOOP
    if name == "ticket":
        loop = LOOP.replace('"content": task}', '"content": f"{task} {ticket}"}')
    agent = (
        function(f"def solve(task, {default}):", loop)
        + f"{RUNS}print(solve(sys.argv[1], {name}=eval(sys.argv[2])))\n"
    )
    command = (sys.executable, "agent.py", QUESTION, given)
    watched(tmp_path, agent, [CALL, *SAID], *command)
    assert "solve(task=scenario.task)" in patch_of(tmp_path)


@pytest.mark.parametrize("default", ["None", "'mock'"])
def test_a_text_that_a_run_gives_in_place_of_a_default_is_a_field(
    default: str, tmp_path: Path
) -> None:
    """With the default, an agent may ask another backend, or nobody. The program's own stays."""
    agent = (
        function(f"def solve(task, backend={default}, style='short', name='x'):")
        + f"{RUNS}print(solve(sys.argv[1], sys.argv[2], 'short', open(__file__).read()[:6]))\n"
    )
    command = (sys.executable, "agent.py", QUESTION, "our-own")
    watched(tmp_path, agent, [CALL, *SAID], *command)
    assert "solve(task=scenario.task, backend=scenario.backend)" in patch_of(tmp_path)
    (row,) = rows(tmp_path)
    assert row["backend"] == "our-own" and not {"style", "name"} & row.keys()


@pytest.mark.parametrize(
    ("given", "kept"), [("sys.argv[2]", True), ("'u2'", False), ("None", False)]
)
def test_a_text_of_a_record_in_place_of_a_default_is_a_field(
    given: str, kept: bool, tmp_path: Path
) -> None:
    record = (
        "from dataclasses import dataclass\n\n@dataclass\nclass Asked:\n    text: str\n"
        "    user: str | None = None\n    rounds: int = 3\n\n\n"
    )
    loop = LOOP.replace("task}]", "asked.text}]")
    agent = record + function("def answer(asked: Asked):", loop)
    agent += f"{RUNS}print(answer(Asked(sys.argv[1], {given})))\n"
    command = (sys.executable, "agent.py", QUESTION, "u1")
    watched(tmp_path, agent, [CALL, *SAID], *command)
    (row,) = rows(tmp_path)
    assert row["text"] == QUESTION and ("user" in row) is kept
    assert ("user=scenario.user" in patch_of(tmp_path)) is kept


# A record's field with a default, what a file of rows has for it, and whether a row says it.
OF_A_FILE = {
    "a text": ("state: str = 'unknown'", '"Oregon"', True),
    "None by default": ("state: str | None = None", '"Oregon"', True),
    "a number": ("state: int = 0", "48213", True),
    "the default": ("state: str = 'unknown'", '"unknown"', False),
    "a switch": ("state: bool = False", "true", True),
    "a switch as it is": ("state: bool = False", "false", False),
    "a word of the code": ("state: str = 'unknown'", '"closed"', False),
}  # fmt: skip


@pytest.mark.parametrize("kind", OF_A_FILE)
def test_a_field_that_the_model_was_asked_about_is_the_row_s(
    kind: str, tmp_path: Path
) -> None:
    field, value, kept = OF_A_FILE[kind]
    record = f"from dataclasses import dataclass\n\n@dataclass\nclass Asked:\n    text: str\n    {field}\n\n\n"
    loop = LOOP.replace("task}]", "f'{asked.text} {asked.state}, not closed'}]")
    agent = record + function("def answer(asked: Asked):", loop)
    agent += f"{RUNS}print(answer(Asked(**json.load(open('ann.json')))))\n"
    (tmp_path / "ann.json").write_text(f'{{"text": "{QUESTION}", "state": {value}}}')
    watched(tmp_path, agent, [CALL, *SAID])
    assert ("state=scenario.state" in patch_of(tmp_path)) is kept
    (row,) = rows(tmp_path)
    assert row["text"] == QUESTION and ("state" in row) is kept


@pytest.mark.parametrize(
    "made",
    [
        "class Solver:\n    def __init__(self, provider=None, size='small'):\n"
        "        self.provider, self.size = provider or KNOWN[0], size\n\n    def solve(self, task):\n",
        "def solve(task, provider=None, size='small'):\n",
    ],
)
def test_a_choice_that_a_run_makes_is_its_agent_s(made: str, tmp_path: Path) -> None:
    """A word of the agent's own files: which provider, which size."""
    is_class = made.startswith("class")
    body = indent(function("def solve(self, task):"), "    ").partition("\n")[2]
    if is_class:
        agent = made + body
        called = "Solver(*sys.argv[2:]).solve(sys.argv[1])"
    else:
        agent = function("def solve(task, provider=None, size='small'):")
        called = "solve(sys.argv[1], *sys.argv[2:])"
    known = "KNOWN = ('north', 'south')\nSIZES = {'small': 1, 'large': 2}\n\n\n"
    command = (sys.executable, "agent.py", QUESTION, "south", "large")
    watched(tmp_path, f"{known}{agent}{RUNS}print({called})\n", [CALL, *SAID], *command)
    assert 'provider="south", size="large"' in patch_of(tmp_path)


@pytest.mark.parametrize("default", ["", '="e114"'])
def test_what_differs_between_runs_is_the_scenario_s(
    default: str, tmp_path: Path
) -> None:
    """A short one is in no line of its own, and a request before the conversation lacks it."""
    turns = LOOP.replace('"content": task}]', '"content": task + " for " + user}]')
    agent = (
        function(f"def solve(task, user{default}):", f"kind = think_of(task)\n{turns}")
        + '\nif __name__ == "__main__":\n'
        + '    print(solve(sys.argv[1], sys.argv[2] if sys.argv[2:] else "e114"))\n'
    )
    for user in ("e201", "e307"):
        command = (sys.executable, "agent.py", QUESTION, user)
        done = watched(tmp_path, agent, [SAID[0], CALL, SAID[1]], *command)
        assert done.returncode == 0, done.stderr.decode()
    assert {row.get("user") for row in rows(tmp_path)} >= {"e201", "e307"}
    assert "user=scenario.user" in patch_of(tmp_path)


def test_what_asks_beside_the_conversation_is_a_side_job(tmp_path: Path) -> None:
    (tmp_path / "agent.py").write_text(HEAD + BESIDE)
    assert _policy(tmp_path) == ["answer", "is_polite", "think"]  # by reading alone
    watched(tmp_path, BESIDE, [CALL, {"content": "In Italy."}, *SAID])
    assert _policy(tmp_path) == ["answer"]
    assert _policy(tmp_path, "--policy", "think") == ["answer", "is_polite", "think"]
    done = art_adapt("--isolated", "agent.py", cwd=tmp_path)
    said = " ".join(done.stdout.decode().split())
    assert "seen in a run: a tool makes this call while the conversation waits" in said
    assert "seen in a run: no episode makes this call" in said
    assert "1 episode, which returned what the model said last" in said
    assert "tools called: look (1)" in said
    written = (tmp_path / "agent.py").read_text()
    assert written.count("recorded(") == 1
    shutil.rmtree(tmp_path / ".art-adapt")
    again = art_adapt("--isolated", "agent.py", cwd=tmp_path)
    assert again.returncode == 0, again.stderr.decode()
    assert (tmp_path / "agent.py").read_text() == written


def test_a_call_that_also_asks_in_the_conversation_is_no_side_job(
    tmp_path: Path,
) -> None:
    agent = BESIDE.replace("while True:", "print(think_of(task))\n    while True:", 1)
    watched(tmp_path, agent, [{"content": "Hm."}, CALL, *SAID, *SAID])
    assert _policy(tmp_path) == ["answer", "think"]


# Where the names of two models come from, as reading cannot tell.
MODELS = {
    "settings": ('MODELS = json.loads(\'{"chat": "big", "sums": "small"}\')\n', "MODELS['chat']", "MODELS['sums']"),
    "a function": ("def name(of):\n    return {'chat': 'big'}.get(of, 'small')\n", "name('chat')", "name('sums')"),
}  # fmt: skip


@pytest.mark.parametrize("where", first_now(MODELS))
def test_a_request_that_asked_another_model_is_told(tmp_path: Path, where: str) -> None:
    said, chat, sums = MODELS[where]
    loop = LOOP.replace('model="m"', f"model={chat}").replace(
        "return message.content", "return shorter(message.content)"
    )
    agent = (
        f"{said}\n\ndef shorter(text):\n"
        "    asked = [{'role': 'user', 'content': f'Sum it up: {text}'}]\n"
        f"    return client.chat.completions.create(model={sums}, messages=asked).choices[0].message.content\n\n\n"
        + function("def answer(task):", loop)
        + f"{RUNS}print(answer(sys.argv[1]))\n"
    )
    (tmp_path / "agent.py").write_text(HEAD + agent)
    told = b"asks a different model than the conversation"
    assert told not in art_adapt("--diff", "agent.py", cwd=tmp_path).stderr
    watched(tmp_path, agent, [CALL, *SAID])
    assert told in art_adapt("--diff", "agent.py", cwd=tmp_path).stderr
    assert "shorter" in _policy(tmp_path)  # which only the user can say


SHARED = """\
class Llm:
    def __init__(self, model):
        self.model = model

    def complete(self, messages):
        reply = client.chat.completions.create(model=self.model, messages=messages)
        return reply.choices[0].message.content


"""
# How the code that runs between the turns comes to ask a model of its own.
ASKS_ANOTHER = {
    "a dict of names": "self.names = {'ask': small.complete}\n",
    "a closure": "self.names = {'ask': lambda asked: small.complete(asked)}\n",
    "code that is run": "self.names = {}\n        exec('def ask(asked):\\n    return small.complete(asked)', {'small': small}, self.names)\n",
}  # fmt: skip


@pytest.mark.parametrize("how", ASKS_ANOTHER)
def test_who_asked_another_model_through_a_shared_function_is_told(
    how: str, tmp_path: Path
) -> None:
    agent = (
        f"{SHARED}class Bench:\n    def __init__(self, small):\n        {ASKS_ANOTHER[how]}\n"
        "    def run(self, text):\n        return self.names['ask']([{'role': 'user', 'content': text}])\n\n\n"
        "def solve(question):\n    llm, bench = Llm('big'), Bench(Llm('small'))\n"
        "    messages = [{'role': 'user', 'content': question}]\n    for _ in range(2):\n"
        "        said = llm.complete(messages)\n"
        "        messages.append({'role': 'assistant', 'content': said})\n"
        "        messages.append({'role': 'user', 'content': bench.run('About: ' + said)})\n"
        f"    return said\n\n\n{RUNS}print(solve(sys.argv[1]))\n"
    )
    replies = [{"content": each} for each in ("One.", "Noted.", "Two.", "Noted again.")]
    watched(tmp_path, agent, replies)
    told = art_adapt("--diff", "--isolated", "agent.py", cwd=tmp_path).stderr.decode()
    assert "Bench.run calls Llm.complete" in told and "(model small)" in told
    aside = '"Bench.run > Llm.complete"'
    assert aside in patch_of(tmp_path, "--auxiliary", "Bench.run")
    shutil.rmtree(tmp_path / ".art-adapt")  # a colleague has no run
    assert aside in patch_of(tmp_path, "--auxiliary", "Bench.run", "--entry", "solve")


def _policy(folder: Path, *options: str) -> list[str]:
    """Return the functions whose calls are to be trained."""
    done = art_adapt("--diff", "--json", "--isolated", *options, "agent.py", cwd=folder)
    told = json.loads(done.stdout)
    calls = [call for file in told["files"] for call in file["calls"]]
    names = {
        f"{Path(call['place']['path']).name}:{call['place']['line']}": call["function"]
        for call in calls
    }
    return sorted(names[place] for place in told["policy"])


PLAYED = {
    "two models": ("Player('gpt-5')", "Player('deepseek-chat')", True),
    "one model": ("Player('gpt-5')", "Player('gpt-5')", False),
}


@pytest.mark.parametrize("kind", PLAYED)
def test_a_game_against_another_model_is_told(kind: str, tmp_path: Path) -> None:
    one, other, told = PLAYED[kind]
    agent = (
        "class Player:\n    def __init__(self, model):\n        self.model = model\n\n"
        "    def move(self, board):\n        messages = [{'role': 'user', 'content': str(board)}]\n"
        "        reply = client.chat.completions.create(model=self.model, messages=messages)\n"
        "        return reply.choices[0].message.content\n\n\n"
        f"def play(opening: str) -> str:\n    players, board = [{one}, {other}], [opening]\n"
        "    for turn in range(4):\n        board.append(players[turn % 2].move(board))\n"
        "    return board[-1]\n\n\nprint(play(sys.argv[1]))\n"
    )
    watched(tmp_path, agent, SAID * 4, sys.executable, "agent.py", QUESTION)
    said = art_adapt("--diff", "agent.py", cwd=tmp_path).stderr.decode()
    assert ("models      gpt-5 (agent.py:" in said) is told, said
    if told:  # the flag that it names holds before anything is written, and after
        flag = ("--auxiliary", "deepseek-chat")
        assert art_adapt("--diff", *flag, "agent.py", cwd=tmp_path).returncode == 1
        assert art_adapt("--yes", *flag, "agent.py", cwd=tmp_path).returncode == 0
        done = art_adapt("--diff", *flag, "agent.py", cwd=tmp_path)
        assert done.returncode == 0, done.stderr.decode()


BRANCHES = """\
def cheap(text):
    asked = [{"role": "user", "content": text}]
    reply = client.chat.completions.create(model="small", messages=asked)
    return reply.choices[0].message.content


def good(text):
    asked = [{"role": "user", "content": text}]
    reply = client.chat.completions.create(model="large", messages=asked)
    return reply.choices[0].message.content


def answer(question: str) -> str:
    ask = cheap if len(question) < 9 else good
    return ask(question)


print(answer(sys.argv[1]))
"""


@pytest.mark.parametrize("was_run", [True, False])
def test_a_model_that_no_run_asked_is_another_way_to_run(
    was_run: bool, tmp_path: Path
) -> None:
    (tmp_path / "agent.py").write_text(HEAD + BRANCHES)
    if was_run:
        watched(tmp_path, BRANCHES, SAID, sys.executable, "agent.py", QUESTION)
    done = art_adapt("--diff", "--entry", "answer", "agent.py", cwd=tmp_path)
    assert ("  models  " in done.stderr.decode()) != was_run, done.stderr


def test_a_flag_says_more_than_a_run(tmp_path: Path) -> None:
    agent, replies, *_ = SHOWN["functions, one of which hands on what the model said"]
    watched(tmp_path, agent, replies)
    assert entry_of(tmp_path, "--entry", "plan") == {"value": "plan", "origin": "flag"}


def test_reading_is_said_where_it_differs(tmp_path: Path) -> None:
    agent, replies, *_ = SHOWN["workers side by side"]
    watched(tmp_path, agent, replies)
    said = art_adapt("--diff", "--isolated", "agent.py", cwd=tmp_path).stderr.decode()
    assert "(seen in 1 run); the code alone suggests think_of" in said


def test_runs_are_counted_and_each_function_is_explained(tmp_path: Path) -> None:
    agent, replies, *_ = SHOWN["a team around a planner and a worker"]
    watched(tmp_path, agent, replies)
    watched(tmp_path, agent, replies)
    said = art_adapt("--diff", "--isolated", "agent.py", cwd=tmp_path).stderr.decode()
    assert "(seen in 2 runs)" in said
    said = art_adapt("explain", "--entry", "agent.py", cwd=tmp_path).stdout.decode()
    _, _, seen = said.partition("Seen in 2 runs:\n")
    assert "Team.run: the model received its arguments (question)  <- taken" in seen
    assert "Worker.work: a step, because it was given the output of the model" in seen


def test_notes_are_their_owner_s_and_stay_out_of_git(tmp_path: Path) -> None:
    agent, replies, *_ = SHOWN["threads"]
    watched(tmp_path, agent, replies)
    folder = tmp_path / ".art-adapt"
    assert stat.S_IMODE((folder / "seen.jsonl").stat().st_mode) == 0o600
    assert (folder / ".gitignore").read_text() == "*\n"


def test_a_file_knows_only_its_own_runs(tmp_path: Path) -> None:
    """Two agents share a helper; what one of them did says nothing of the other."""
    (tmp_path / "llm.py").write_text(HEAD)
    other = "from llm import think_of\n\n\ndef other(text: str) -> str:\n    return think_of(text)\n"
    (tmp_path / "other.py").write_text(other)
    agent, replies, episode, _ = SHOWN[
        "functions, one of which hands on what the model said"
    ]
    (tmp_path / "pyproject.toml").touch()
    watched(tmp_path, agent, replies)
    told = art_adapt("--diff", "--json", "--isolated", "other.py", cwd=tmp_path)
    assert json.loads(told.stdout)["decisions"]["entry"]["origin"] == "found"
    assert entry_of(tmp_path)["value"] == episode


ROUTED = {
    "api.py": (
        "from functools import lru_cache\n\nfrom fastapi import Depends, FastAPI\n"
        "from fastapi.testclient import TestClient\nfrom pydantic import BaseModel\n\n"
        "from desk import Desk\n\napp = FastAPI()\n\n\nclass Claim(BaseModel):\n    letter: str\n\n\n"
        "@lru_cache\ndef get_desk() -> Desk:\n    return Desk()\n\n\n@app.post('/claims')\n"
        "def post_claim(claim: Claim, desk: Desk = Depends(get_desk)) -> dict:\n"
        "    return desk.settle(claim.letter)\n\n\n"
        "if __name__ == '__main__':\n    import sys\n"
        "    print(TestClient(app).post('/claims', json={'letter': sys.argv[1]}).json())\n"
    ),
    "desk.py": (
        "from openai import OpenAI\n\n\nclass Desk:\n    def settle(self, letter: str) -> dict:\n"
        "        messages = [{'role': 'user', 'content': letter}]\n"
        "        reply = OpenAI().chat.completions.create(model='m', messages=messages)\n"
        "        return {'decision': reply.choices[0].message.content}\n"
    ),
}


def test_a_route_and_what_it_calls_are_told_apart_whichever_file_is_named(
    tmp_path: Path,
) -> None:
    (tmp_path / "pyproject.toml").touch()
    for name, text in ROUTED.items():
        (tmp_path / name).write_text(text)
    run = ("--scripted", "--", sys.executable, "api.py", QUESTION)
    done = art_adapt("capture", *run, cwd=tmp_path)
    assert "episode  Desk.settle" in done.stderr.decode(), done.stderr.decode()
    for named in (["desk.py"], ["api.py"], ["api.py", "desk.py"]):
        told = art_adapt("--diff", "--json", "--isolated", *named, cwd=tmp_path)
        entry = json.loads(told.stdout)["decisions"]["entry"]
        assert entry["origin"] == "seen" and entry["value"].endswith("Desk.settle")


def test_adapting_again_after_a_run_changes_nothing(tmp_path: Path) -> None:
    agent, replies, *_ = SHOWN["a factory fills the agent and prints"]
    watched(tmp_path, agent, replies)
    before = (tmp_path / "agent.py").read_bytes()
    assert art_adapt("--isolated", "agent.py", cwd=tmp_path).returncode == 0
    done = art_adapt("--isolated", "--diff", "agent.py", cwd=tmp_path)
    assert done.returncode == 0, done.stdout.decode()
    assert art_adapt("--undo", "agent.py", cwd=tmp_path).returncode == 0
    assert (tmp_path / "agent.py").read_bytes() == before


def test_who_has_no_notes_leaves_the_module_as_a_run_made_it(tmp_path: Path) -> None:
    """A colleague, and a CI that looks whether anything would change."""
    agent, replies, *_ = SHOWN["workers side by side"]
    watched(tmp_path, agent, replies)
    assert art_adapt("--isolated", "agent.py", cwd=tmp_path).returncode == 0
    module = (tmp_path / "agent_train.py").read_bytes()
    (tmp_path / ".art-adapt" / "seen.jsonl").unlink()
    done = art_adapt("--isolated", "--diff", "agent.py", cwd=tmp_path)
    assert done.returncode == 0, done.stdout.decode()
    told = art_adapt("--isolated", "--project", "apples", "agent.py", cwd=tmp_path)
    assert told.returncode == 0
    assert b"agent_train.py was made as a watched run showed" in told.stdout
    changed = (tmp_path / "agent_train.py").read_bytes()
    assert changed != module and b'PROJECT = "apples"' in changed
    assert b"--entry research" in changed


@pytest.mark.slow  # pytest itself, while it is heard
def test_tests_show_an_episode_as_well(tmp_path: Path) -> None:
    agent, replies, episode, row = SHOWN["an LLM helper is given the conversation"]
    (tmp_path / "test_agent.py").write_text(
        f"from agent import answer\n\n\ndef test_it():\n    assert answer({QUESTION!r})\n"
    )
    command = (sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider")
    done = watched(tmp_path, agent, replies, *command)
    assert f"episode  {episode} (agent.py:" in done.stderr.decode(), (
        done.stderr.decode()
    )
    assert rows(tmp_path) == [row]


def test_a_handler_s_task_is_the_function_s_behind_it(tmp_path: Path) -> None:
    agent = "from fastapi import FastAPI\nfrom fastapi.testclient import TestClient\n\napp = FastAPI()\n\n\n"
    agent += function("def answer(task):") + (
        "@app.post('/ask')\ndef ask(body: dict) -> dict:\n    return {'said': answer(body['question'])}\n\n\n"
        "@app.post('/both')\ndef both(body: dict) -> dict:\n"
        "    plan = think_of(body['question'])\n    return {'said': answer(plan)}\n\n\n"
        "if __name__ == '__main__':\n"
        "    TestClient(app).post(sys.argv[1], json={'question': 'Is it sunny in Rome?'})\n"
    )
    watched(tmp_path, agent, [CALL, *SAID], sys.executable, "agent.py", "/ask")
    assert entry_of(tmp_path)["value"] == "answer"
    (tmp_path / ".art-adapt" / "seen.jsonl").unlink()
    watched(tmp_path, agent, [PLAN, CALL, *SAID], sys.executable, "agent.py", "/both")
    assert entry_of(tmp_path)["value"] == "both"


def test_what_a_route_is_handed_is_no_field(tmp_path: Path) -> None:
    """Though the prompt that the model was asked is in it."""
    agent = (
        "from typing import Annotated\n\nfrom fastapi import Depends, FastAPI\n"
        "from fastapi.testclient import TestClient\nfrom pydantic import BaseModel\n\napp = FastAPI()\n\n\n"
        "class Desk:\n    def __init__(self, hotel):\n        self.hotel = hotel\n\n\n"
        "DESK = Desk('Hotel Meridian')\n\n\ndef desk() -> Desk:\n    return DESK\n\n\n"
        "class Ask(BaseModel):\n    text: str\n\n\n"
        "@app.post('/ask')\ndef ask(body: Ask, at: Annotated[Desk, Depends(desk)]) -> dict:\n"
        "    return {'said': think_of(f'You are at {at.hotel}. {body.text}')}\n\n\n"
        f"{RUNS}TestClient(app).post('/ask', json={{'text': 'Where is the pool?'}})\n"
    )
    watched(tmp_path, agent, SAID)
    patch = patch_of(tmp_path, "--entry", "ask")
    assert 'json={"text": scenario.text}' in patch and "scenario.at" not in patch


@pytest.mark.slow  # pytest itself, while it is heard
def test_a_test_of_one_step_says_nothing_of_the_episode(tmp_path: Path) -> None:
    agent, replies, *_ = SHOWN["functions, one of which hands on what the model said"]
    tried = "from agent import plan, solve\n\n\ndef test_plan():\n    assert plan('Count all of the apples')\n"
    (tmp_path / "test_agent.py").write_text(tried)
    command = (sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider")
    watched(tmp_path, agent, replies, *command)
    assert entry_of(tmp_path) == {"value": "solve", "origin": "found"}
    both = tried + "\n\ndef test_all():\n    assert solve('Count all of the pears')\n"
    (tmp_path / "test_agent.py").write_text(both)
    watched(tmp_path, agent, [PLAN, *replies], *command)
    assert entry_of(tmp_path) == {"value": "solve", "origin": "seen"}


GAME = """\
class Game:
    def __init__(self, context):
        self.context, self.turns = context, []

    def ask(self, prompt):
        messages = [{"role": "user", "content": prompt}]
        self.turns.append(client.chat.completions.create(model="m", messages=messages).choices[0].message.content)
        return self.turns[-1]

    def start_game(self):
        return self.ask(f"The first scene of a game: {self.context}")

    def play_turn(self, action):
        return self.ask(f"{self.context} {self.turns} The player: {action}")


if __name__ == "__main__":
    game = Game("An old castle.")
    print(game.start_game())
    for action in ("go north", "look around"):
        print(game.play_turn(action))
"""
CLERK = """\
class Clerk:
    def __init__(self, prompt="You are a clerk of the shop. Be brief."):
        self.prompt = prompt

    def run(self, text):
        messages = [{"role": "system", "content": self.prompt}, {"role": "user", "content": text}]
        return client.chat.completions.create(model="m", messages=messages).choices[0].message.content


if __name__ == "__main__":
    print(Clerk().run("When do you open?"))
"""
TICKETS = """\
from dataclasses import dataclass


@dataclass
class Ticket:
    text: str
    language: str = "en"


def run(ticket: Ticket):
    messages = [{"role": "user", "content": f"In {ticket.language}: {ticket.text}"}]
    return client.chat.completions.create(model="m", messages=messages).choices[0].message.content


if __name__ == "__main__":
    print(run(Ticket("Wo ist mein Paket?", "de")), run(Ticket("Where is my parcel?")))
"""
SERVED = """\
class App:
    def route(self, path):
        def keep(function):
            self.run = function
            return function
        return keep


app = App()
history = []


@app.route("/chat")
def chat():
    history.append({"role": "user", "content": request["message"]})
    reply = client.chat.completions.create(model="m", messages=history).choices[0].message
    history.append({"role": "assistant", "content": reply.content})
    return {"response": reply.content}


if __name__ == "__main__":
    for request in ({"message": "Good morning."}, {"message": "Where is my parcel?"}):
        print(app.run())
"""


@pytest.mark.parametrize(
    ("agent", "episode", "row"),
    [
        (GAME, "Game.play_turn", {"action": "go north"}),
        (CLERK, "Clerk.run", {"text": "When do you open?"}),
        (TICKETS, "run", {"text": "Wo ist mein Paket?", "language": "de"}),
        (SERVED, "chat", None),
    ],
    ids=["a game", "a default", "a record", "a handler"],
)
def test_what_a_run_must_not_make_worse(
    agent: str, episode: str, row: dict[str, str] | None, tmp_path: Path
) -> None:
    replies = [{"content": f"reply {at} of the model"} for at in range(4)]
    done = watched(tmp_path, agent, replies, sys.executable, "agent.py")
    assert f"episode  {episode} (agent.py:" in done.stderr.decode(), (
        done.stderr.decode()
    )
    if row is not None:  # what the handler reads of its request is not seen
        assert entry_of(tmp_path) == {"value": episode, "origin": "seen"}
        kept = rows(tmp_path)[0]
        assert {k: v for k, v in kept.items() if k != "context"} == row


def test_a_scripted_model_answers_without_a_key(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Wherever the agent's client would have asked."""
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    agent = SHOWN["a factory fills the agent and prints"][0]
    text = HEAD.replace("OpenAI()", "OpenAI(base_url='https://nowhere.invalid/v1')")
    (tmp_path / "agent.py").write_text(text + agent)
    (tmp_path / "pyproject.toml").touch()
    run = (sys.executable, "agent.py")
    done = art_adapt("capture", "--scripted", "--", *run, cwd=tmp_path)
    assert "episode  Agent.run" in done.stderr.decode(), done.stderr.decode()
    assert rows(tmp_path) == [{"task": QUESTION}]


@pytest.mark.parametrize("insists", [False, True])
def test_a_scripted_run_of_a_package_below_src(tmp_path: Path, insists: bool) -> None:
    """Its agent is found as Python finds it, and gets a placeholder for its key."""
    package = tmp_path / "src" / "bot"
    package.mkdir(parents=True)
    (package / "__init__.py").touch()
    (tmp_path / "pyproject.toml").touch()
    check = 'assert os.environ["BOT_API_KEY"].startswith("own"), "another key"\n'
    (package / "agent.py").write_text(
        f"import os\n{HEAD}\nos.environ['BOT_API_KEY']\n{check if insists else ''}"
        'def run(task):\n    messages = [{"role": "user", "content": task}]\n'
        '    reply = client.chat.completions.create(model="m", messages=messages)\n'
        '    return reply.choices[0].message.content\n\n\nprint(run("Who is there?"))\n'
    )
    run = (sys.executable, "-m", "bot.agent")
    with pytest.MonkeyPatch.context() as own:
        own.setenv("PYTHONPATH", "src")
        own.setenv("BOT_API_KEY", "own key")
        done = art_adapt("capture", "--scripted", "--", *run, cwd=tmp_path)
    said = done.stderr.decode()
    assert ("not passed on: BOT_API_KEY" in said) == insists, said
    assert (package / "scenarios.jsonl").exists() != insists


@pytest.mark.parametrize("streams", [False, True])
def test_the_older_functions_are_called(tmp_path: Path, streams: bool) -> None:
    read = (
        "    for chunk in reply:\n        called = chunk.choices[0].delta.function_call if chunk.choices else None\n"
        "        if called:\n            return called\n    return None\n"
    )
    whole = "    return reply.choices[0].message.function_call\n"
    (tmp_path / "agent.py").write_text(
        "import sys\nfrom openai import OpenAI\n\nLOOK = {'name': 'look', 'parameters': {'type': 'object',\n"
        "    'properties': {'city': {'type': 'string'}}, 'required': ['city']}}\n\n\n"
        "def asked(messages):\n    reply = OpenAI().chat.completions.create(\n"
        f"        model='m', messages=messages, functions=[LOOK], stream={streams})\n"
        f"{read if streams else whole}\n\n"
        "def run(task: str) -> str:\n    messages = [{'role': 'user', 'content': task}]\n"
        "    for turn in range(9):\n        called = asked(messages)\n        if called is None:\n"
        "            return f'after {turn}'\n"
        "        call = {'name': called.name, 'arguments': called.arguments}\n"
        "        messages.append({'role': 'assistant', 'content': None, 'function_call': call})\n"
        "        messages.append({'role': 'function', 'name': 'look', 'content': 'sunny'})\n"
        "    return 'never'\n\n\nprint([run(f'How is it in {c}?') for c in sys.argv[1:]])\n"
    )
    run = ("--scripted", "--", sys.executable, "agent.py", *"ABCDEF")
    done = art_adapt("capture", *run, cwd=tmp_path)
    assert done.returncode == 0, done.stderr.decode()
    said = done.stdout.decode()
    assert any(f"after {turn}" in said for turn in range(1, 9)), said


@pytest.mark.parametrize("streams", [False, True])
def test_a_client_of_azures_is_answered(tmp_path: Path, streams: bool) -> None:
    """Its requests have a query, ?api-version=..., and the deployment in their path."""
    read = "''.join(c.choices[0].delta.content or '' for c in reply if c.choices)"
    whole = "reply.choices[0].message.content"
    (tmp_path / "agent.py").write_text(
        "import os\nimport sys\nfrom openai import AzureOpenAI\n\n\n"
        "def ask(question: str) -> str:\n"
        "    client = AzureOpenAI(\n"
        "        azure_endpoint=os.getenv('AZURE_OPENAI_ENDPOINT'),\n"
        "        api_key=os.getenv('AZURE_OPENAI_API_KEY'),\n"
        "        api_version='2024-10-21',\n    )\n"
        "    messages = [{'role': 'user', 'content': question}]\n"
        f"    reply = client.chat.completions.create(model='m', messages=messages, stream={streams})\n"
        f"    return {read if streams else whole}\n\n\n"
        "if __name__ == '__main__':\n    print(ask(sys.argv[1]))\n"
    )
    run = ("--scripted", "--", sys.executable, "agent.py", "How many?")
    done = art_adapt("capture", *run, cwd=tmp_path)
    assert done.returncode == 0, done.stderr.decode()
    assert rows(tmp_path)[0]["question"] == "How many?"


@pytest.mark.parametrize(
    "before", ["", "openai.base_url = 'https://models.test/v1/'\n"]
)
def test_the_client_of_the_module_openai_is_answered(
    before: str, tmp_path: Path
) -> None:
    agent = (
        f"import sys\n\nimport openai\n\n{before}\n\ndef ask(question):\n"
        "    messages = [{'role': 'user', 'content': question}]\n"
        "    reply = openai.chat.completions.create(model='m', messages=messages)\n"
        "    return reply.choices[0].message.content\n\n\nprint(ask(sys.argv[1]))\n"
    )
    (tmp_path / "agent.py").write_text(agent)
    command = (sys.executable, "agent.py", "Why is it cold?")
    done = art_adapt("capture", "--scripted", "--", *command, cwd=tmp_path)
    assert done.returncode == 0, done.stderr.decode()
    assert rows(tmp_path)[0]["question"] == "Why is it cold?"


def test_what_a_scripted_run_makes_up_is_in_no_row(tmp_path: Path) -> None:
    """The address of a service is one where nobody listens."""
    (tmp_path / "agent.py").write_text(
        HEAD
        + "import os, sys\n\n\ndef run(task: str, directory: str, region: str) -> str:\n"
        '    messages = [{"role": "user", "content": f"{task} {region} {directory}"}]\n'
        '    reply = client.chat.completions.create(model="m", messages=messages)\n'
        "    return reply.choices[0].message.content\n\n\n"
        'if __name__ == "__main__":\n'
        '    print(run("Who?", os.environ["DIRECTORY_URL"], os.environ["REGION_NAME"]))\n'
    )
    (tmp_path / "pyproject.toml").touch()
    run = (sys.executable, "agent.py")
    with pytest.MonkeyPatch.context() as own:
        own.setenv("DIRECTORY_URL", "http://directory.local")
        own.setenv("REGION_NAME", "north-west")
        done = art_adapt("capture", "--scripted", "--", *run, cwd=tmp_path)
    said = done.stderr.decode()
    assert "left out: --scripted made up the value of directory;" in said, said
    (row,) = rows(tmp_path)
    assert row["task"] == "Who?" and "127.0.0.1" not in str(row)


def test_a_run_that_asks_nothing_is_no_success(tmp_path: Path) -> None:
    done = watched(tmp_path, "print('nothing to ask')\n", [])
    assert done.returncode == 2
    assert "no request to a model was seen" in done.stderr.decode()


def test_the_next_command_names_the_agent_and_not_what_runs_it(tmp_path: Path) -> None:
    (tmp_path / "main.py").write_text(
        "import sys\nfrom agent import answer\n\nprint(answer(sys.argv[1]))\n"
    )
    command = (sys.executable, "main.py", QUESTION)
    done = watched(tmp_path, function("def answer(task):"), [CALL, *SAID], *command)
    assert "next: art-adapt agent.py" in done.stderr.decode()


@pytest.mark.parametrize("key", ["sk-or-...", "<your key>", "${KEY}", "your_key_here"])
def test_a_placeholder_is_no_secret(key: str, tmp_path: Path) -> None:
    agent = function("def answer(task, messages):") + (
        f"{RUNS}said = [{{'role': 'user', 'content': 'Set API_KEY={key} first.'}}]\n"
        "    print(answer(sys.argv[1], said))\n"
    )
    done = watched(tmp_path, agent, [CALL, *SAID])
    assert "secret" not in done.stderr.decode()
    assert f"Set API_KEY={key} first." in str(rows(tmp_path))


def test_secrets_are_not_noted(tmp_path: Path) -> None:
    key = "sk-" + "a1b2c3d4" * 3
    agent = function("def answer(task, password, notes):") + (
        f"if __name__ == '__main__':\n    print(answer(sys.argv[1], 'hunter2hunter2', ['use {key}']))\n"
    )
    done = watched(tmp_path, agent, [CALL, *SAID])
    noted = (tmp_path / ".art-adapt" / "seen.jsonl").read_text()
    assert key not in noted and "hunter2" not in noted
    said = done.stderr.decode()
    assert "cut out of notes: what looks like a secret" in said
    (row,) = rows(tmp_path)
    assert row["notes"] == ["use (looks like a secret)"] and "password" not in row


# What takes a key, what a run gives, which field no row has, and how episode() creates it.
KEYED = {
    "a text": (
        "def answer(task, password):",
        "'hunter2hunter2'",
        "password",
        "run_program",  # which says it
    ),
    "a dict": (
        "def answer(task, settings):",
        "{'name': 'a', 'api_key': KEY}",
        "settings",
        'settings={"name": "a", "api_key": KEY}',
    ),
    "a dict in a list": (
        "def answer(task, models):",
        "[{'api_key': KEY}]",
        "models",
        'models=[{"api_key": KEY}]',
    ),
    "a whole environment": (
        "def answer(task, env: dict):",
        "{**os.environ, 'SEARCH_TOKEN': KEY}",
        "env",
        'env={**os.environ, "SEARCH_TOKEN": KEY}',
    ),
    "a record's field": (
        "@dataclass\nclass Setup:\n    settings: dict\n    region: str\n\n\n"
        "def answer(task, setup: Setup):",
        "Setup({'api_key': KEY}, 'north')",
        "settings",
        "run_program",  # which makes it
    ),
}


@pytest.mark.parametrize("kind", KEYED)
def test_what_holds_a_key_is_no_field(kind: str, tmp_path: Path) -> None:
    head, given, name, created = KEYED[kind]
    agent = (
        "import os\nfrom dataclasses import dataclass\n"
        + f"KEY = 'sk-{'a1b2c3d4' * 3}'\n\n\n"
        + function(head)
        + f"if __name__ == '__main__':\n    print(answer(sys.argv[1], {given}))\n"
    )
    done = watched(tmp_path, agent, [CALL, *SAID])
    assert "1 new row" in done.stderr.decode(), done.stderr.decode()
    (row,) = rows(tmp_path)
    assert row["task"] == QUESTION and name not in row and "a1b2" not in str(row)
    assert created in patch_of(tmp_path)


def test_a_task_that_looks_like_a_key_stays_the_scenarios(tmp_path: Path) -> None:
    agent = function("def answer(task, messages):") + (
        "if __name__ == '__main__':\n"
        "    said = [{'role': 'user', 'content': 'my password: hunter2hunter2'}]\n"
        "    print(answer(sys.argv[1], said))\n"
    )
    done = watched(tmp_path, agent, [CALL, *SAID])
    assert "left out: messages (looks like a secret)" in done.stderr.decode()
    assert "messages=scenario.messages" in patch_of(tmp_path)


def test_an_object_is_asked_nothing(tmp_path: Path) -> None:
    """A proxy that raises, and a query that counts its rows, stay as they are."""
    agent = (
        "class Query:\n    def __len__(self):\n        raise SystemExit('asked')\n\n"
        "    __iter__ = __bool__ = __eq__ = __len__\n    __hash__ = None\n\n\n"
        "class Proxy:\n    @property\n    def __class__(self):\n        raise RuntimeError('outside')\n\n\n"
        + function("def answer(task, query, proxy):")
        + "if __name__ == '__main__':\n    print(answer(sys.argv[1], Query(), Proxy()))\n"
    )
    done = watched(tmp_path, agent, [CALL, *SAID])
    assert done.returncode == 0 and b"nothing more is kept" not in done.stderr
    assert b"episode  answer" in done.stderr


def test_a_job_beside_a_loop_of_the_module_is_no_episode(tmp_path: Path) -> None:
    """It was given what was typed, and one request in three was its own."""
    agent = (
        "def note(line):\n    return ask_once('Note: ' + line)\n\n\n"
        "def ask_once(text):\n    return think([{'role': 'user', 'content': text}])\n\n\n"
        "def answer():\n    global said\n    said = ask_once('Answer: ' + question)\n\n\n"
        f"{RUNS}question = sys.argv[1]\n"
        "    for _ in range(2):\n        answer()\n    print(said, note(question))\n"
    )
    watched(
        tmp_path, agent, [{"content": each} for each in ("Fine.", "Good.", "Noted.")]
    )
    done = art_adapt("--diff", "agent.py", cwd=tmp_path)
    assert done.returncode == 2
    assert b"no function in the watched run ran one episode" in done.stderr


@pytest.mark.slow
def test_an_episode_that_ran_many_times_is_one(tmp_path: Path) -> None:
    """Of which a run keeps the first fifty."""
    agent = function("def answer(task):") + (
        f"{RUNS}for number in range(120):\n        answer(sys.argv[1] + str(number))\n"
    )
    watched(tmp_path, agent, SAID * 120)
    assert entry_of(tmp_path)["value"] == "answer"


# What a call of the project gives beside the task, and whether that stays the agent's.
BESIDE_THE_TASK = {
    "a constant": ("PROMPT", True),
    "an imported constant": ("NOTES", True),
    "a text of the command line": ("sys.argv[2]", False),
    "a constant that is made": ("PROMPT + sys.argv[2]", False),
}


@pytest.mark.parametrize("kind", first_now(BESIDE_THE_TASK, 2))
def test_a_constant_that_the_model_was_asked_is_the_agent_s(
    kind: str, tmp_path: Path
) -> None:
    passed, stays = BESIDE_THE_TASK[kind]
    (tmp_path / "notes.py").write_text("NOTES = 'Be kind to those who ask.'\n")
    loop = LOOP.replace(
        "messages = [", "messages = [{'role': 'system', 'content': prompt}, "
    )
    agent = "from notes import NOTES\n\nPROMPT = 'Answer in one short sentence.'\n\n\n"
    agent += function("def answer(task, prompt):", loop)
    agent += f"{RUNS}print(answer(sys.argv[1], {passed}))\n"
    command = (sys.executable, "agent.py", QUESTION, "Say it in Latin only.")
    watched(tmp_path, agent, [CALL, *SAID], *command)
    patch = patch_of(tmp_path)
    assert ("prompt=scenario.prompt" not in patch) is stays, patch
    (row,) = rows(tmp_path)
    assert row["task"] == QUESTION and ("prompt" not in row) is stays


def test_a_row_has_what_an_object_was_made_with(tmp_path: Path) -> None:
    """Its attributes may be called otherwise, or hold something else."""
    made = (
        "class Desk:\n    def __init__(self, rooms: list, floor: str):\n"
        "        self.free, self.level = {each: True for each in rooms}, floor.upper()\n\n\n"
    )
    agent = made + function("def answer(task: str, desk: Desk):")
    agent += (
        "class House:\n    def __init__(self, config):\n"
        "        self.desk = Desk(rooms=config['rooms'], floor=config['floor'])\n\n"
        "    def serve(self, days):\n        for day in range(days):\n"
        "            answer(f'Which room is free on day {day} of the fair?', self.desk)\n\n\n"
        f"{RUNS}House(json.loads(sys.argv[1])).serve(2)\n"
    )
    config = '{"rooms": ["north", "south"], "floor": "first"}'
    run = (sys.executable, "agent.py", config)
    watched(tmp_path, agent, [CALL, *SAID, CALL, *SAID], *run)
    assert entry_of(tmp_path)["value"] == "answer"
    desk = {"rooms": ["north", "south"], "floor": "first"}
    kept = rows(tmp_path)
    assert len({row.pop("task") for row in kept}) == 2
    assert kept == [desk, desk]


# What a program computes for its agent, where a run of it had something else; and what is passed.
COMPUTED = {
    "in a branch that did not run": (
        "    careful = not options.quick\n    if careful:\n        if not options.topic:\n"
        "            careful = False\n",
        "careful=careful",
        "careful=True",
    ),
    "of an option that has a default": (
        "    limit = len(options.topic or '') + 4\n",
        "limit=limit",
        "limit=10",
    ),
}


@pytest.mark.parametrize("kind", first_now(COMPUTED))
def test_a_run_says_more_than_what_reading_computes(kind: str, tmp_path: Path) -> None:
    computed, given, passed = COMPUTED[kind]
    agent = function("def answer(task: str, careful=None, limit=None):")
    agent += (
        "def main():\n    import argparse\n    parser = argparse.ArgumentParser()\n"
        "    parser.add_argument('task')\n    parser.add_argument('--topic')\n"
        "    parser.add_argument('--quick', action='store_true')\n"
        f"    options = parser.parse_args()\n{computed}"
        f"    print(answer(options.task, {given}))\n\n\n{RUNS}main()\n"
    )
    run = (sys.executable, "agent.py", QUESTION, "--topic", "planes")
    watched(tmp_path, agent, [CALL, *SAID], *run)
    assert f"answer(task=scenario.task, {passed})" in patch_of(tmp_path)


def test_a_number_that_chance_draws_is_drawn_anew(tmp_path: Path) -> None:
    agent = "import random\n\n\n" + function("def answer(task: str, seed=None):")
    agent += f"{RUNS}print(answer(sys.argv[1], seed=random.randint(1, 99)))\n"
    watched(tmp_path, agent, [CALL, *SAID], sys.executable, "agent.py", QUESTION)
    assert "seed=random.randint(1, 99)" in patch_of(tmp_path)


def test_what_options_take_besides_the_task_is_passed_as_in_the_run(
    tmp_path: Path,
) -> None:
    agent = function("def answer(task: str, careful=True):")
    agent += (
        "def serve(task, **options):\n    return answer(task, **options)\n\n\n"
        f"{RUNS}print(serve(sys.argv[1], careful='-q' not in sys.argv))\n"
    )
    run = (sys.executable, "agent.py", QUESTION, "-q")
    watched(tmp_path, agent, [CALL, *SAID], *run)
    assert "serve(task=scenario.task, careful=False)" in patch_of(tmp_path)


def test_a_short_number_in_place_of_none_is_a_field(tmp_path: Path) -> None:
    loop = LOOP.replace("task}]", "f'{task} Prior: {prior}'}]")
    agent = function("def answer(task: str, prior: float | None = None):", loop)
    agent += f"{RUNS}print(answer(sys.argv[1], prior=float(sys.argv[2])))\n"
    run = (sys.executable, "agent.py", QUESTION, "0.1")
    watched(tmp_path, agent, [CALL, *SAID], *run)
    assert "prior=scenario.prior" in patch_of(tmp_path)
    (row,) = rows(tmp_path)
    assert row["prior"] == 0.1
