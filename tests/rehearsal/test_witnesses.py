"""A rehearsal says where what was inferred of an agent is not so."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from random import Random
from typing import Any

import pytest
from agent_files import art_adapt, first_now
from test_rehearse import REWARD, rehearse

from art_adapt.rehearsal.schemas import fits, value_of

HEAD = """\
import json
from openai import OpenAI

client = OpenAI()
TOOLS = [{"type": "function", "function": {"name": "look", "parameters": {
    "type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}}}]


def look(city: str) -> str:
    return "sunny in " + city


def ask(messages):
    return client.chat.completions.create(model="m", messages=messages, tools=TOOLS)


"""
LOOP = """\
    for _ in range(20):
        message = ask(messages).choices[0].message
        messages.append(message)
        if not message.tool_calls:
            return message.content
        for call in message.tool_calls:
            try:
                result = look(**json.loads(call.function.arguments))
            except Exception as error:
                result = str(error)
            messages.append({"role": "tool", "tool_call_id": call.id, "content": result})
"""
RIGHT = (
    "def run_agent(question: str) -> str:\n"
    '    messages = [{"role": "user", "content": question}]\n' + LOOP
)
# What is wrong with an agent, the agent, the function that is trained, what is found.
WRONG = {
    "a demo's task stands in the code": (
        "def run_agent(question: str) -> str:\n"
        '    messages = [{"role": "user", "content": "Why is the sky blue?"}]\n' + LOOP,
        "run_agent",
        "one task",
    ),
    "a row's own task stands in the code": (
        "def run_agent(question: str) -> str:\n"
        '    messages = [{"role": "user", "content": "How is the weather in city 3?"}]\n' + LOOP,
        "run_agent",
        "one task",
    ),
    "the task is dropped": (
        "class Bot:\n    def __init__(self):\n"
        '        self.messages = [{"role": "system", "content": "Help."}]\n\n'
        "    def run(self, question: str) -> str:\n        messages = self.messages\n"
        + "".join(f"    {line}\n" for line in LOOP.splitlines()),
        "Bot.run",
        "one task",
    ),
    "a helper is trained in place of the loop": (
        f"{RIGHT}\n\ndef answer(question: str) -> str:\n"
        '    messages = [{"role": "user", "content": question}]\n'
        "    return str(ask(messages).choices[0].message)\n",
        "answer",
        "tools never ran",
    ),
    "a tool fails now and then": (
        "COUNT = []\n\n\n" + RIGHT.replace(
            '    messages = [{"role"',
            "    COUNT.append(question)\n    failing = len(COUNT) % 5 == 2\n"
            '    messages = [{"role"',
        ).replace(
            "        if not message.tool_calls:",
            '        if failing:\n            raise OSError("no such table")\n'
            "        if not message.tool_calls:",
        ),
        "run_agent",
        "failed",
    ),
}  # fmt: skip


def rehearsed(
    tmp_path: Path,
    agent: str,
    entry: str,
    *options: str,
    head: str = HEAD,
    more: Mapping[str, Any] | None = None,
    rows: Sequence[Mapping[str, Any]] = (),
    isolate: str | None = None,
) -> dict[str, Any]:
    """Rehearse an agent on ``rows``, or on questions with ``more`` keys than the agent takes."""
    (tmp_path / "agent.py").write_text(head + agent)
    (tmp_path / "rewards.py").write_text(REWARD)
    rows = rows or [
        {"question": f"How is the weather in city {at}?", **(more or {})}
        for at in range(8)
    ]
    (tmp_path / "scenarios.jsonl").write_text("\n".join(map(json.dumps, rows)))
    adapting = ["--isolated", "--entry", entry, "--reward", "rewards:f", "agent.py"]
    if isolate is not None:
        adapting += ["--isolate", isolate]
    done = art_adapt(*adapting, cwd=tmp_path)
    assert done.returncode == 0, done.stderr.decode()
    _, said, complaints = rehearse("agent_train.py", "--json", *options, cwd=tmp_path)
    told: dict[str, Any] = json.loads(said or "{}")
    assert told, complaints
    return told


def test_a_right_agent_is_witnessed(tmp_path: Path) -> None:
    told = rehearsed(tmp_path, RIGHT, "run_agent")
    assert told["findings"] == []
    task, tool, asked, loop, files, same, twice, ends = told["witnessed"]
    assert same == "the same episode gets the same reward"
    assert loop.startswith("the loop at agent.py:") and "went round again" in loop
    assert asked.startswith("ask (agent.py:")
    assert task.startswith("scenario.question is in a request, for ")
    assert tool.startswith("the tool look was called and answered (")
    assert files == "no file of the project was written"
    assert twice == "the same scenario and the same replies lead to the same requests"
    assert ends.startswith("an episode ends although its model keeps calling tools: ")
    assert told["unwitnessed"] == []


def test_a_form_for_the_reply_and_a_key_of_the_reward_are_no_gap(
    tmp_path: Path,
) -> None:
    """A tool that each request demands is how instructor asks for an object."""
    form = (
        "def run_agent(question: str) -> str:\n"
        '    messages = [{"role": "user", "content": question}]\n'
        '    demanded = {"type": "function", "function": {"name": "look"}}\n'
        '    reply = client.chat.completions.create(model="m", messages=messages, '
        "tools=TOOLS, tool_choice=demanded)\n"
        "    return str(reply.choices[0].message.tool_calls)\n"
    )
    told = rehearsed(tmp_path, form, "run_agent", more={"expected": "a city"})
    said = [*told["witnessed"], *told["unwitnessed"]]
    assert not any("look" in each or "expected" in each for each in said), said


@pytest.mark.slow
def test_a_tool_that_ends_the_episode_is_no_gap(tmp_path: Path) -> None:
    agent = RIGHT.replace(
        "            try:\n",
        '            if call.function.name == "finish":\n'
        '                return json.loads(call.function.arguments)["answer"]\n'
        "            try:\n",
    )
    finish = (
        '\n\nTOOLS += [{"type": "function", "function": {"name": "finish", "parameters": {\n'
        '    "type": "object", "properties": {"answer": {"type": "string"}}, "required": ["answer"]}}}]\n\n\n'
    )
    told = rehearsed(tmp_path, f"{finish}{agent}", "run_agent")
    assert "a call of the tool finish ends the episode" in told["witnessed"]
    assert not any("finish" in each for each in told["unwitnessed"])


# Loops whose model asks for tools in a text that the scripted model does not write.
IN_TEXT = {
    "in the function": """
def run_agent(question: str) -> str:
    messages = [{"role": "user", "content": question}]
    while True:
        said = client.chat.completions.create(model="m", messages=messages).choices[0].message.content
        messages.append({"role": "assistant", "content": said})
        if not said.endswith("PAUSE"):
            return said
        messages.append({"role": "user", "content": look(said)})
""",
    "through a helper": """
def said_by(messages):
    return client.chat.completions.create(model="m", messages=messages).choices[0].message.content


def run_agent(question: str) -> str:
    messages = [{"role": "user", "content": question}]
    for _ in range(5):
        said = said_by(messages)
        messages.append({"role": "assistant", "content": said})
        if not said.startswith("<tool>"):
            return said
        messages.append({"role": "user", "content": look(said)})
    return ""
""",
    "in a class": """
class Agent:
    def __init__(self):
        self.messages = []

    def __call__(self, text):
        self.messages.append({"role": "user", "content": text})
        reply = client.chat.completions.create(model="m", messages=self.messages)
        self.messages.append({"role": "assistant", "content": reply.choices[0].message.content})
        return reply.choices[0].message.content


def run_agent(question: str) -> str:
    agent, said = Agent(), question
    for _ in range(8):
        said = agent(said)
        if "CALL" not in said:
            break
        said = look(said)
    return said
""",
}


@pytest.mark.parametrize("spelling", first_now(IN_TEXT))
def test_a_loop_that_never_went_round_again_is_said(
    tmp_path: Path, spelling: str
) -> None:
    told = rehearsed(tmp_path, IN_TEXT[spelling], "run_agent")
    assert told["findings"] == [] and told["figures"]["turns"] == 1
    assert any(each.startswith("the loop at agent.py:") for each in told["unwitnessed"])
    _, said, _ = rehearse("agent_train.py", cwd=tmp_path)
    assert "every episode ended with its first reply" in said
    assert "But read the 2 lines above, marked seen or not seen." in said


def test_an_empty_answer_is_none(tmp_path: Path) -> None:
    silent = RIGHT.replace("return message.content", "return ''")
    told = rehearsed(tmp_path, silent, "run_agent")
    assert told["figures"]["answered"] == 0
    (finding,) = (each for each in told["findings"] if each["name"] == "answer")
    assert finding["what"] == "trajectory.final_answer is empty in every episode"


def test_what_episodes_failed_with_is_said_where_it_is_no_finding(
    tmp_path: Path,
) -> None:
    """Some fail because the scripted model calls a tool wrongly: "4 failed" needs a word."""
    strict = RIGHT.replace("result = str(error)", "raise")
    told = rehearsed(tmp_path, strict, "run_agent")
    figures = told["figures"]
    assert told["findings"] == [] and 0 < figures["failed"] == figures["misled"]
    _, said, _ = rehearse("agent_train.py", cwd=tmp_path)
    assert "mistake that the scripted model makes on purpose; " in said
    assert "with: the agent raised " in said


def test_a_key_that_the_agent_takes_and_is_not_given_is_said(tmp_path: Path) -> None:
    """Its default stays the same in all episodes, whatever a row says."""
    agent = RIGHT.replace("question: str)", 'question: str, region: str = "north")')
    told = rehearsed(tmp_path, agent, "run_agent", more={"region": "the far south"})
    line = (tmp_path / "agent.py").read_text().partition("def run_agent")[0].count("\n")
    said = f"run_agent (agent.py:{line + 1}) was given region, which rows have"
    assert said in told["unwitnessed"]


def test_what_a_lambda_of_a_function_asks_is_the_functions(tmp_path: Path) -> None:
    """As the call that a retry helper is given."""
    head = HEAD.replace("def ask(", "def tried(call):\n    return call()\n\n\ndef ask(")
    head = head.replace("return client.chat", "return tried(lambda: client.chat")
    head = head.replace("tools=TOOLS)", "tools=TOOLS))")
    told = rehearsed(tmp_path, RIGHT, "run_agent", head=head)
    assert told["unwitnessed"] == []
    assert any(each.startswith("ask (agent.py:") for each in told["witnessed"])


@pytest.mark.slow
def test_an_agent_that_never_asks_lacks_something(tmp_path: Path) -> None:
    offline = RIGHT.replace("run_agent", "ask_all") + (
        "\n\nimport os\n\n\ndef run_agent(question: str) -> str:\n"
        "    if not os.environ.get('ONLINE'):\n        return 'I am offline: ' + question\n"
        "    return ask_all(question)\n"
    )
    told = rehearsed(tmp_path, offline, "run_agent")
    fixes = [each["fix"] for each in told["findings"]]
    assert any("answers without its model" in each for each in fixes), fixes


def test_an_answer_from_a_cache_is_no_lack_of_a_service(tmp_path: Path) -> None:
    kept = RIGHT.replace("run_agent", "ask_all") + (
        "\n\nKEPT = {}\n\n\ndef run_agent(question: str) -> str:\n"
        "    if question not in KEPT:\n        KEPT[question] = ask_all(question)\n"
        "    return KEPT[question]\n"
    )
    told = rehearsed(tmp_path, kept, "run_agent", isolate="none")
    (finding,) = told["findings"]
    assert "never called the model: it answered" in finding["what"]
    assert "switch off what answers in its place" in finding["fix"]
    assert "service" not in finding["fix"]


def test_a_tool_that_takes_a_made_up_argument_apart_is_no_failure(
    tmp_path: Path,
) -> None:
    calculator = HEAD.replace(
        'return "sunny in " + city',
        "try:\n        return str(eval(city, {}))\n"
        "    except Exception as error:\n        return f'error: {error}'",
    )
    told = rehearsed(tmp_path, RIGHT, "run_agent", head=calculator)
    assert told["findings"] == []


# What the loop ends with: its own limit of turns, or a tool that fails.
AT_LIMIT = {
    "below the loop": (
        "range(3)",
        "",
        "    raise TimeoutError('too many rounds')\n",
        True,
    ),
    "in the loop": (
        "itertools.count()",
        "        if turn == 3:\n            raise RuntimeError('too many rounds')\n",
        "",
        True,
    ),
    "a tool's failure": ("range(3)", "", "", False),
    "an answer that cannot be kept": (
        "range(3)",
        "",
        "    raise RuntimeError('cannot store the answer')\n",
        False,
    ),
}


@pytest.mark.parametrize("where", AT_LIMIT)
def test_the_agent_s_own_limit_of_turns_is_no_failure(
    where: str, tmp_path: Path
) -> None:
    turns, inside, below, is_limit = AT_LIMIT[where]
    loop = LOOP.replace("for _ in range(20):\n", f"for turn in {turns}:\n{inside}")
    if below and not is_limit:
        loop = loop.replace("return message.content", "break")
    elif not is_limit:
        loop = loop.replace("result = str(error)", "result = ''").replace(
            "            messages.append({",
            "            raise RuntimeError(f'no {result}')\n            messages.append({",
        )
    agent = RIGHT.replace(LOOP, loop + below)
    told = rehearsed(tmp_path, agent, "run_agent", head="import itertools\n" + HEAD)
    named = [each["name"] for each in told["findings"]]
    assert named[:1] == ["failed"] * (not is_limit)
    assert (is_limit or bool(below)) == any(
        "own limit of turns" in each for each in told["unwitnessed"]
    )


# What outlives an episode or never ends, and what the rehearsal could not see because of it.
UNSEEN = {
    "what was asked is kept in a list of the module": (
        "ASKED = []\n\n\n" + RIGHT.replace('"content": question', '"content": question + str(len(ASKED))')
        .replace("    for _", "    ASKED.append(question)\n    for _", 1),
        "lead to the same requests: request 1 differs in message 1 (user)",
    ),
    "a conversation is kept in an attribute": (
        RIGHT.replace("    messages = [{", "    kept = vars(run_agent).setdefault('kept', [])\n    messages = [*kept, {")
        .replace("            return", "            kept.append(messages[-2])\n            return"),
        "lead to the same requests: request 1 differs",
    ),
    "a tool answers with a count": (
        "COUNT = iter(range(999))\n\n\n" + RIGHT.replace('"content": result', '"content": f"{next(COUNT)}"'),
        "lead to the same requests: request 2 differs in message 3 (tool)",
    ),
    "a tool's stock runs out long before the last episode": (
        "STOCK = ['one', 'two']\n\n\n"
        + RIGHT.replace('"content": result', '"content": STOCK.pop() if STOCK else "sold out"'),
        "lead to the same requests: request 2 differs in message 3 (tool)",
    ),
    "nothing bounds the turns": (RIGHT.replace("for _ in range(20)", "while True"), "keeps calling tools: not after 60"),
}  # fmt: skip


@pytest.mark.parametrize("name", first_now(UNSEEN, 2))
def test_what_no_repeated_episode_shows_is_said(tmp_path: Path, name: str) -> None:
    agent, statement = UNSEEN[name]
    told = rehearsed(tmp_path, agent, "run_agent", isolate="none")
    assert any(statement in each for each in told["unwitnessed"]), told["unwitnessed"]


# What an episode leaves for the next one, and puts before its question.
LEFT_BEHIND = {
    "cut to the last two": ("vars(run_agent).setdefault('kept', [])", "[*kept[-2:], {", "kept += [messages[-2], {'role': 'assistant', 'content': '(answered)'}]"),
    "questions alone": ("vars(run_agent).setdefault('kept', [])", "[*kept, {", "kept.append({'role': 'user', 'content': question})"),
    "a summary": ("vars(run_agent).setdefault('kept', [])", "[*kept, {", "kept[:] = [{'role': 'system', 'content': 'They talked.'}]"),
}  # fmt: skip


@pytest.mark.parametrize("kind", first_now(LEFT_BEHIND))
def test_what_earlier_episodes_left_before_the_question_is_found(
    tmp_path: Path, kind: str
) -> None:
    made, begun, left = LEFT_BEHIND[kind]
    agent = RIGHT.replace(
        "    messages = [{", f"    kept = {made}\n    messages = {begun}"
    ).replace("            return", f"            {left}\n            return")
    told = rehearsed(tmp_path, agent, "run_agent")
    assert "cross-talk" in [each["name"] for each in told["findings"]]


@pytest.mark.slow  # it waits for half a minute
def test_an_episode_that_goes_on_after_its_time_is_none_of_the_steps(
    tmp_path: Path,
) -> None:
    """The first one waits for longer than a repeated episode may take, then asks."""
    slow = "import time\n\nBEGUN = []\n\n\n" + RIGHT.replace(
        "    for _",
        "    time.sleep(12 * (not BEGUN))\n    BEGUN.append(1)\n    for _",
        1,
    )
    told = rehearsed(tmp_path, slow, "run_agent")
    assert told["findings"] == []
    assert told["figures"]["recorded"] == told["figures"]["calls"]
    assert not any("same requests" in each for each in told["witnessed"])


@pytest.mark.parametrize("name", first_now(WRONG, 2))
def test_what_is_not_so_is_found(tmp_path: Path, name: str) -> None:
    agent, entry, finding = WRONG[name]
    told = rehearsed(tmp_path, agent, entry, isolate="none")
    assert finding in [each["name"] for each in told["findings"]], told["findings"]


RECURSIVE = {
    "$defs": {
        "Node": {
            "type": "object",
            "properties": {
                "kids": {"type": "array", "items": {"$ref": "#/$defs/Node"}},
                "next": {"anyOf": [{"$ref": "#/$defs/Node"}, {"type": "null"}]},
            },
            "required": ["kids", "next"],
        }
    },
    "$ref": "#/$defs/Node",
}
SCHEMAS: dict[str, Any] = {
    **{
        name: {"type": "string", "format": name}
        for name in ("date", "date-time", "email", "uuid", "uri", "ipv4")
    },
    "long": {"type": "string", "minLength": 20},
    "short": {"type": "string", "maxLength": 3},
    "between": {"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1},
    "below": {"type": "integer", "maximum": -3},
    "multiple": {"type": "integer", "multipleOf": 5, "minimum": 3},
    "map": {"type": "object", "additionalProperties": {"type": "integer"}},
    "tuple": {"type": "array", "prefixItems": [{"type": "integer"}], "items": False},
    "unique": {"items": {"enum": ["a", "b", "c"]}, "type": "array", "minItems": 3, "uniqueItems": True},
    "none": {"type": "array", "maxItems": 0},
    "all": {"allOf": [{"properties": {"a": {"type": "string"}}, "required": ["a"]}, {"type": "object"}]},
    "a node of nodes": RECURSIVE,
    "a map of two": {"type": "object", "additionalProperties": {"type": "integer"}, "minProperties": 2},
    "two of anything": {"type": "object", "minProperties": 2},
    **{
        f"pattern {at}": {"type": "string", "pattern": pattern}
        for at, pattern in enumerate(
            (
                r"^[A-Z]{2,3}-\d{4}$",
                r"^(low|medium|high)$",
                r"^#?([a-f0-9]{6}|[a-f0-9]{3})$",
                r"^[^\s@]+@[^\s@]+\.[a-z]{2,}$",
                r"^\d{4}-(0[1-9]|1[0-2])$",
                r"^(?=.*\d)[a-z0-9]{6,}$",
                r"^(\w)x\1?$",
                r"order",
            )
        )
    },
}  # fmt: skip


@pytest.mark.parametrize("name", SCHEMAS)
def test_arguments_fit_their_schema(name: str) -> None:
    schema = SCHEMAS[name]
    for seed in range(30):
        value = value_of(schema, Random(seed), schema)
        assert fits(value, schema), value


def test_what_a_tool_raises_is_to_be_caught_where_tools_run(tmp_path: Path) -> None:
    agent = RIGHT.replace(
        "            try:\n                result = look(**json.loads(call.function.arguments))\n"
        "            except Exception as error:\n                result = str(error)\n",
        "            result = look(**json.loads(call.function.arguments))\n",
    )
    head = HEAD.replace('return "sunny', 'raise LookupError(city)\n    return "sunny')
    told = rehearsed(tmp_path, agent, "run_agent", head=head)
    (failed,) = (each for each in told["findings"] if each["name"] == "failed")
    assert "catch what look raises where the agent runs its tools" in failed["fix"]


def test_what_the_train_module_s_own_code_raises_is_placed_there(
    tmp_path: Path,
) -> None:
    rehearsed(tmp_path, RIGHT, "run_agent")
    module = tmp_path / "agent_train.py"
    text = module.read_text()
    module.write_text(
        text.replace("timeout=EPISODE_TIMEOUT", "time_out=EPISODE_TIMEOUT")
    )
    _, said, _ = rehearse("agent_train.py", "--json", cwd=tmp_path)
    found = {each["name"]: each for each in json.loads(said)["findings"]}
    line = next(
        at for at, each in enumerate(text.splitlines(), 1) if "def rollout" in each
    )
    assert found["failed"]["line"] == line
    assert "rollout() of the train module" in found["failed"]["fix"]


def test_what_sets_a_missing_attribute_is_named(tmp_path: Path) -> None:
    agent = (
        "class Client:\n    def close(self):\n        self.tools = []\n\n"
        "    def again(self):\n        self.tools = None\n\n"
        "    def connect_to_server(self, path):\n        self.tools = TOOLS\n\n"
        "    def run(self, question: str) -> str:\n"
        '        messages = [{"role": "user", "content": question}]\n'
        '        reply = client.chat.completions.create(model="m", messages=messages, tools=self.tools)\n'
        "        return str(reply.choices[0].message)\n"
    )
    told = rehearsed(tmp_path, agent, "Client.run")
    (failed,) = (each for each in told["findings"] if each["name"] == "failed")
    said = "set tools first: call connect_to_server() of the agent in episode()"
    assert said in failed["fix"], failed


# What an episode leaves None: how the agent keeps it, what uses it, and whether it is named.
LEFT_NONE = {
    "an attribute": ("self.shop = shop", "self.shop.time()", True),
    "several at once": ("self.shop, self.seen = shop, []", "self.shop.time()", True),
    "another name": ("self.place = shop or None", "self.place.time()", False),
    "an own None": ("self.last = None", "self.last.time()", False),
}  # fmt: skip


@pytest.mark.parametrize("name", first_now(LEFT_NONE, 1))
def test_what_episodes_leave_none_is_named(tmp_path: Path, name: str) -> None:
    keeps, uses, is_named = LEFT_NONE[name]
    agent = (
        "class Seller:\n    def __init__(self, name, shop=None):\n        self.name = name\n"
        f"        {keeps}\n\n"
        "    def run(self, question: str) -> str:\n"
        f'        messages = [{{"role": "user", "content": f"{{{uses}}} {{question}}"}}]\n'
        "        return str(ask(messages).choices[0].message)\n\n\n"
        "class Shop:\n    def __init__(self):\n        self.seller = Seller('Ann', shop=self)\n"
    )
    told = rehearsed(tmp_path, agent, "Seller.run", more={"name": "Ann"})
    (failed,) = (each for each in told["findings"] if each["name"] == "failed")
    assert ("episode() leaves shop None, and agent.py:" in failed["fix"]) == is_named


@pytest.mark.slow  # each of its episodes takes longer than a repeated one may
def test_what_was_not_tried_of_a_slow_agent_is_said(tmp_path: Path) -> None:
    agent = "import time\n\n\n" + RIGHT.replace(
        "    messages = [", "    time.sleep(11)\n    messages = ["
    )
    told = rehearsed(tmp_path, agent, "run_agent")
    assert "an episode that is run again ends in time" in told["unwitnessed"]


@pytest.mark.parametrize("kind", ["drawn", "given"])
def test_a_task_that_chance_draws_is_the_groups_to_share(
    kind: str, tmp_path: Path
) -> None:
    task = "random.randint(0, 10**9)" if kind == "drawn" else "len(question)"
    agent = "import random\n\n\n" + RIGHT.replace(
        '"content": question', f'"content": f"{{question}} {{{task}}}"'
    )
    rehearsed(tmp_path, agent, "run_agent")
    _, said, _ = rehearse("agent_train.py", cwd=tmp_path)
    assert ("if chance draws the task" in said) == (kind == "drawn"), said


def test_a_later_part_of_a_task_tells_scenarios_apart(tmp_path: Path) -> None:
    """What a tool returns may be the scenario's: its first messages are all alike."""
    agent = (
        "def run_agent(question: str) -> str:\n"
        '    messages = [{"role": "user", "content": "Ask what it is about."}]\n'
        + LOOP.replace("range(20)", "range(4)").replace(
            "look(**json.loads(call.function.arguments))", "question"
        )
    )
    told = rehearsed(tmp_path, agent, "run_agent")
    assert "one task" not in {each["name"] for each in told["findings"]}


KEYED = """\
def run_agent({name}) -> str:
    messages = [{{"role": "user", "content": "Write an invoice."}}]
    for said in ({then}, "For 40 hours."):
        reply = client.chat.completions.create(model="m", messages=messages)
        messages.append(dict(role="assistant", content=reply.choices[0].message.content))
        messages.append(dict(role="user", content=said))
    return str(reply.choices[0].message)
"""
SAME = {
    "a switch": ("debug: bool = False", "'Yes.'", "finding"),
    "two switches": ("debug: bool = False, fast: bool = True", "'Yes.'", "finding"),
    "a number": ("seed: int", "'Yes.'", "witness"),
    "a number that tells": ("seed: int", "f'It costs {seed}.'", ""),
    "a switch that tells": ("debug: bool = False", "'Yes.' if debug else 'No.'", ""),
}


@pytest.mark.parametrize("kind", SAME)
def test_scenarios_that_differ_in_what_is_not_told_are_reported(
    kind: str, tmp_path: Path
) -> None:
    taken, then, reported = SAME[kind]
    names = [each.partition(":")[0].strip() for each in taken.split(",")]
    values = [bool(at % 2) if "bool" in taken else at for at in range(4)]
    told = rehearsed(
        tmp_path,
        KEYED.format(name=taken, then=then),
        "run_agent",
        rows=[dict.fromkeys(names, value) for value in values],
    )
    found = {each["name"] for each in told["findings"]}
    unseen = [each for each in told["unwitnessed"] if "differ by what" in each]
    assert ("one task" in found) == (reported == "finding"), told
    assert bool(unseen) == (reported == "witness"), told


@pytest.mark.parametrize(
    "shape", ["json.dumps(question)", "json.dumps([question])", "repr(1)"]
)
def test_a_text_in_json_that_the_agent_writes_is_found(
    shape: str, tmp_path: Path
) -> None:
    agent = (
        "def run_agent(question: str) -> str:\n"
        f'    messages = [{{"role": "user", "content": {shape}}}]\n'
        '    reply = client.chat.completions.create(model="m", messages=messages)\n'
        "    return reply.choices[0].message.content\n"
    )
    rows = [{"question": f'Über\nline {at} of "it"?'} for at in range(4)]
    told = rehearsed(tmp_path, agent, "run_agent", rows=rows)
    found = "scenario.question is in a request" in str(told["witnessed"])
    assert found == ("question" in shape), told["unwitnessed"]


AUXILIARY_ALONE = """\
def valid(text):
    asked = [{"role": "user", "content": text}]
    reply = client.chat.completions.create(model="judge", messages=asked)
    return bool(reply)


def run_agent(question: str) -> str:
    text = question
    while not valid(text):
        reply = client.chat.completions.create(
            model="m", messages=[{"role": "user", "content": text}]
        )
        text = reply.choices[0].message.content
    return text
"""


def test_an_episode_that_asks_an_auxiliary_model_alone_is_told(tmp_path: Path) -> None:
    (tmp_path / "agent.py").write_text(HEAD + AUXILIARY_ALONE)
    (tmp_path / "rewards.py").write_text(REWARD)
    rows = "".join(f'{{"question": "q{at}"}}\n' for at in range(4))
    (tmp_path / "scenarios.jsonl").write_text(rows)
    options = ("--auxiliary", "valid", "--entry", "run_agent", "--reward", "rewards:f")
    done = art_adapt("-y", "--isolated", *options, "agent.py", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    _, said, _ = rehearse("agent_train.py", cwd=tmp_path)
    assert "asked an auxiliary model alone" in " ".join(said.split())


PLAYERS = """\
class Player:
    def __init__(self, model):
        self.model = model

    def move(self, board):
        asked = [{"role": "user", "content": f"Board: {board}. Your move?"}]
        reply = client.chat.completions.create(model=self.model, messages=asked)
        return str(reply.choices[0].message.content)[:1]


def run_agent(question: str) -> str:
    board = question
    for player in (Player("gpt-4o"), Player(OTHER)) * 2:
        board += player.move(board)
    return board
"""


@pytest.mark.parametrize(
    "call", ["client.chat.completions.create", "litellm.completion"]
)
@pytest.mark.parametrize("other", ["gpt-4o", "gpt-4o-mini"])
def test_several_models_of_an_episode_are_said(
    other: str, call: str, tmp_path: Path
) -> None:
    agent = PLAYERS.replace("OTHER", repr(other))
    agent = agent.replace("client.chat.completions.create", call)
    agent = f"import litellm\n\n{agent}" if "litellm" in call else agent
    told = rehearsed(tmp_path, agent, "run_agent")
    said = "each episode asks for one model"
    assert (said in told["unwitnessed"]) == (other != "gpt-4o")
    if other != "gpt-4o":
        module = tmp_path / "agent_train.py"
        text = module.read_text()
        none = "AUXILIARY: tuple[str, ...] = ()"
        assert none in text
        module.write_text(text.replace(none, f"AUXILIARY = ({other!r},)"))
        _, told_again, _ = rehearse("agent_train.py", "--json", cwd=tmp_path)
        assert said not in told_again


FALLBACK = """\
def canned(question):
    return question.title()


def run_agent(question: str) -> str:
    messages = [{"role": "user", "content": question}]
    reply = client.chat.completions.create(model="m", messages=messages)
    try:
        return str(json.loads(reply.choices[0].message.content)["city"])
    except (ValueError, KeyError):
        return CANNED
"""
GIVEN = [
    {"when": "city [0-1]", "content": '{"city": "Delft"}'},
    {"content": "I cannot say."},
]


@pytest.mark.parametrize("canned", ["canned(question)", "'I do not know.'"])
def test_an_answer_of_the_code_s_own_is_said(canned: str, tmp_path: Path) -> None:
    (tmp_path / "replies.jsonl").write_text("\n".join(map(json.dumps, GIVEN)))
    agent = FALLBACK.replace("CANNED", canned)
    told = rehearsed(tmp_path, agent, "run_agent", "--replies", "replies.jsonl")
    marked = (tmp_path / "agent.py").read_text().count("return final_answer(")
    said = "each episode ended at an answer that final_answer(...) marks"
    assert (said in told["unwitnessed"]) == (marked == 1), told


def test_the_elements_of_one_list_are_one_scenario(tmp_path: Path) -> None:
    agent = (
        "def run_agent(question: list[str]) -> str:\n"
        '    messages = [{"role": "user", "content": each} for each in question]\n'
        + LOOP.replace("range(20)", "range(4)")
    )
    told = rehearsed(
        tmp_path, agent, "run_agent", more={"question": ["a first part", "the second"]}
    )
    assert "one task" not in {each["name"] for each in told["findings"]}


def test_a_call_that_a_helper_makes_in_a_thread_is_carried(tmp_path: Path) -> None:
    agent = (
        "import asyncio\n\n\nasync def apart(func):\n"
        "    return await asyncio.get_running_loop().run_in_executor(None, func)\n\n\n"
        "async def run_agent(question: str) -> str:\n"
        '    messages = [{"role": "user", "content": question}]\n'
        "    reply = await apart(\n"
        '        lambda: client.chat.completions.create(model="m", messages=messages)\n'
        "    )\n    return str(reply.choices[0].message)\n"
    )
    told = rehearsed(tmp_path, agent, "run_agent")
    assert "carried(func)" in (tmp_path / "agent.py").read_text()
    assert told["passed"]


def test_a_call_that_a_thread_makes_elsewhere_is_to_be_carried(tmp_path: Path) -> None:
    agent = (
        "import asyncio\n\n\nasync def apart(func):\n"
        '    start = getattr(asyncio.get_running_loop(), "run_in_executor")\n'
        "    return await start(None, func)\n\n\n"
        "async def run_agent(question: str) -> str:\n"
        '    messages = [{"role": "user", "content": question}]\n'
        "    reply = await apart(\n"
        '        lambda: client.chat.completions.create(model="m", messages=messages)\n'
        "    )\n    return str(reply.choices[0].message)\n"
    )
    told = rehearsed(tmp_path, agent, "run_agent")
    fixes = [f["fix"] for f in told["findings"] if f["name"] in ("failed", "stopped")]
    assert len(fixes) == 2
    assert all("carried(function)" in each for each in fixes), fixes


# What a row says, what begins an episode, and whether nobody tells the model what to do.
TOLD = {
    "nothing": ({"path": "x"}, '{"role": "system", "content": "You rewrite SQL."}', True),
    "a row in the prompt": ({"path": "orders"}, '{"role": "system", "content": f"Rewrite {path}."}', False),
    "a user": ({"path": "x"}, '{"role": "user", "content": "Rewrite it."}', False),
}  # fmt: skip


@pytest.mark.parametrize("kind", first_now(TOLD, 1))
def test_a_conversation_that_nobody_begins_has_no_task(
    kind: str, tmp_path: Path
) -> None:
    row, first, is_found = TOLD[kind]
    agent = f"def run_agent(path: str) -> str:\n    messages = [{first}]\n{LOOP}"
    told = rehearsed(tmp_path, agent, "run_agent", rows=[row])
    found = [each["what"] for each in told["findings"] if each["name"] == "one task"]
    assert bool(found) is is_found, told
    assert all("none of them from a user" in each for each in found)
