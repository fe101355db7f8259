"""Test which call runs a framework's agent, however it was made, and what is none."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from art_adapt.errors import Refusal
from art_adapt.plan import Plan, make_plan
from art_adapt.settings import Options
from art_adapt.source import read_source

LANGGRAPH = """
from langchain_openai import ChatOpenAI
from langgraph.prebuilt import create_react_agent
"""
# By what they show: the file, and the call that is found in it.
RUNS = {
    "made at module level": (
        LANGGRAPH + "agent = create_react_agent(ChatOpenAI(), [])\n"
        "def ask(question):\n    return agent.invoke({'messages': question})\n",
        "agent.invoke",
    ),
    "made by a function": (
        LANGGRAPH + "def build():\n    graph = create_react_agent(ChatOpenAI(), [])\n"
        "    return graph\n"
        "async def ask(question):\n    graph = build()\n    return await graph.ainvoke(question)\n",
        "graph.ainvoke",
    ),
    "an attribute": (
        LANGGRAPH + "class Agent:\n    def __init__(self):\n"
        "        self.graph = create_react_agent(ChatOpenAI(), [])\n"
        "    def ask(self, question):\n        return self.graph.invoke(question)\n",
        "self.graph.invoke",
    ),
    "compiled": (
        "import langgraph.graph as lg\nbuilder = lg.StateGraph(dict)\n"
        "app = builder.compile()\n"
        "def ask(question):\n    for step in app.stream(question):\n        print(step)\n",
        "app.stream",
    ),
    "a chain": (
        LANGGRAPH + "from langchain_core.prompts import ChatPromptTemplate as Prompt\n"
        "chain = Prompt.from_template('{text}') | ChatOpenAI()\n"
        "def ask(text):\n    return chain.invoke(text)\n",
        "chain.invoke",
    ),
    "a bare model": (
        LANGGRAPH + "def ask(question, model: ChatOpenAI):\n"
        "    return model.invoke(question)\n",
        "model.invoke",
    ),
    "a node of a graph beside it": (
        LANGGRAPH + "llm = ChatOpenAI()\n"
        "def node(state):\n    return llm.invoke(state)\n"
        "def ask(question):\n"
        "    return create_react_agent(llm, []).invoke(question)\n",
        "create_react_agent(llm, []).invoke",
    ),
    "a model behind a prompt": (
        LANGGRAPH + "from langchain_core.prompts import PromptTemplate\n"
        "prompt = PromptTemplate.from_template('{text}')\n"
        "def prepare(text):\n    return prompt.invoke(text)\n"
        "def ask(text):\n    return ChatOpenAI().invoke(prepare(text))\n",
        "ChatOpenAI().invoke",
    ),
    "a method of the class itself": (
        "from agents import Agent, Runner\n"
        "def ask(question):\n    return Runner.run_sync(Agent(name='a'), question)\n",
        "Runner.run_sync",
    ),
    "through the module": (
        "import agents\n"
        "async def ask(question):\n"
        "    return await agents.Runner.run(agents.Agent(name='a'), question)\n",
        "agents.Runner.run",
    ),
    "one of two": (
        "from pydantic_ai import Agent\n"
        "def ask(question, brief: bool):\n"
        "    agent = Agent('a') if brief else Agent('b')\n"
        "    return agent.run_sync(question).output\n",
        "agent.run_sync",
    ),
    "an object that is called": (
        "import dspy\nqa = dspy.Predict('question -> answer')\n"
        "def ask(question):\n    return qa(question=question).answer\n",
        "qa",
    ),
    "a derived class that is called": (
        "import dspy\nclass QA(dspy.Module):\n    pass\n"
        "def ask(question):\n    return QA()(question=question)\n",
        "QA()",
    ),
    "an agent that is named after its tools": (
        "from smolagents import OpenAIServerModel, ToolCallingAgent\n"
        "def make():\n    model = OpenAIServerModel('m')\n"
        "    return ToolCallingAgent(tools=[], model=model)\n"
        "def ask(question):\n    return make().run(question)\n",
        "make().run",
    ),
    "a method that makes it": (
        "from crewai import Crew\nclass Team:\n"
        "    def crew(self):\n        return Crew(agents=[])\n"
        "def ask(topic):\n    return Team().crew().kickoff(inputs={'t': topic})\n",
        "Team().crew().kickoff",
    ),
}


def planned(tmp_path: Path, source: str, **options: Any) -> Plan:
    file = tmp_path / "agent.py"
    file.write_text(source)
    return make_plan([read_source(file)], Options(**options))


@pytest.mark.parametrize(("source", "callee"), RUNS.values(), ids=list(RUNS))
def test_the_call_that_runs_it(source: str, callee: str, tmp_path: Path) -> None:
    plan = planned(tmp_path, source)
    assert [call.callee for call in plan.decisions.policy] == [callee]
    training = plan.decisions.training
    assert training is not None and training.every_client
    changed = [edit.path.name for edit in plan.edits if edit.changes]
    assert changed == ["agent_train.py"]  # the agent stays as it is


def test_an_object_of_another_file(tmp_path: Path) -> None:
    (tmp_path / "graph.py").write_text(
        LANGGRAPH + "app = create_react_agent(ChatOpenAI(), [])\n"
    )
    source = (
        "from graph import app\ndef ask(question):\n    return app.invoke(question)\n"
    )
    plan = planned(tmp_path, source)
    assert [call.callee for call in plan.decisions.policy] == ["app.invoke"]


def test_without_a_train_module_there_is_nothing_to_do(tmp_path: Path) -> None:
    with pytest.raises(Refusal, match="nothing to hook"):
        planned(tmp_path, RUNS["made at module level"][0], train_module=False)


def test_hooks_come_first(tmp_path: Path) -> None:
    """Where the agent asks a client itself, what is recorded is what was adapted."""
    source = (
        "from openai import OpenAI\nfrom langchain_openai import ChatOpenAI\n"
        "client, judge = OpenAI(), ChatOpenAI()\n"
        "def ask(question):\n"
        "    judge.invoke(question)\n"
        "    return client.chat.completions.create(model='m', messages=question)\n"
    )
    plan = planned(tmp_path, source)
    assert [call.method for call in plan.decisions.policy] == ["create"]
    training = plan.decisions.training
    assert training is not None and not training.every_client


BESIDE = """
import openai
agent, client = create_react_agent(ChatOpenAI(), []), openai.OpenAI()

def judge(text):
    return client.chat.completions.create(model="j", messages=[text])

def ask(question):
    client.chat.completions.create(model="k", messages=[question])
    return judge(agent.invoke(question))
"""


def test_a_function_that_runs_the_agent_is_not_named_auxiliary(tmp_path: Path) -> None:
    """Its name would keep out all that it calls."""
    beside = ("judge", "ask")
    with pytest.raises(Refusal, match="only auxiliary calls") as refused:
        planned(tmp_path, LANGGRAPH + BESIDE, auxiliary=beside)
    assert "--entry" in refused.value.next_step
    plan = planned(tmp_path, LANGGRAPH + BESIDE, auxiliary=beside, entry="ask")
    training = plan.decisions.training
    assert training is not None and training.every_client
    assert training.auxiliary == ("judge",)


@pytest.mark.parametrize(
    "source",
    [
        pytest.param(
            "import subprocess\nfrom langchain_core.tools import tool\n"
            "def ask(question):\n    return subprocess.run(question)\n",
            id="another library's run",
        ),
        pytest.param(
            "from langchain_openai import ChatOpenAI\n"
            "def ask(agents):\n    return agents.run('x')\n",
            id="a name like a framework's",
        ),
    ],
)
def test_what_runs_nothing_is_not_taken_for_it(source: str, tmp_path: Path) -> None:
    with pytest.raises(Refusal, match="no call that runs it was found") as refused:
        planned(tmp_path, source)
    assert "--entry" in refused.value.next_step
    plan = planned(tmp_path, source, entry="ask")  # the user knows better
    training = plan.decisions.training
    assert training is not None and training.every_client


def test_a_value_is_followed_once_however_often_it_is_assigned(tmp_path: Path) -> None:
    """Else 25 steps of a query take nine seconds, and 200 do not end."""
    steps = "".join(f"    q = q.where({n})\n" for n in range(200))
    source = (
        "from langchain_core.tools import tool\n"
        f"def load(db):\n    q = db.select()\n{steps}    return q.stream()\n"
    )
    with pytest.raises(Refusal, match="no call that runs it was found"):
        planned(tmp_path, source)


def test_a_package_of_the_project_is_no_framework(tmp_path: Path) -> None:
    (tmp_path / "agents").mkdir()
    (tmp_path / "agents" / "__init__.py").write_text("class Runner:\n    pass\n")
    source = "from agents import Runner\ndef ask(q):\n    return Runner().run(q)\n"
    with pytest.raises(Refusal, match="no completion call found"):
        planned(tmp_path, source)


def test_a_package_may_import_from_itself(tmp_path: Path) -> None:
    (tmp_path / "agents").mkdir()
    (tmp_path / "agents" / "__init__.py").write_text("class Runner:\n    pass\n")
    file = tmp_path / "agents" / "ask.py"
    file.write_text(
        "from agents import Runner\ndef ask(q):\n    return Runner().run(q)\n"
    )
    with pytest.raises(Refusal, match="no completion call found"):
        make_plan([read_source(file)], Options())


def test_a_folder_gives_no_more_than_its_modules(tmp_path: Path) -> None:
    """Many projects have a folder ``agents``, beside agents on the SDK of that name."""
    (tmp_path / "agents").mkdir()
    (tmp_path / "agents" / "support.py").write_text("class Runner:\n    pass\n")
    source = RUNS["a method of the class itself"][0]
    assert planned(tmp_path, source).decisions.entry is not None
    source = (
        "from agents.support import Runner\ndef ask(q):\n    return Runner().run(q)\n"
    )
    with pytest.raises(Refusal, match="no completion call found"):
        planned(tmp_path, source)


def test_a_script_is_no_module_of_the_package_that_it_imports(tmp_path: Path) -> None:
    """As in agno/agent.py."""
    folder = tmp_path / "agno"
    folder.mkdir()
    source = (
        "from agno.agent import Agent\nagent = Agent()\n"
        "def ask(question):\n    return agent.run(question)\n"
    )
    entry = planned(folder, source).decisions.entry
    assert entry is not None and entry.package == ""


def test_a_folder_of_examples_is_no_package(tmp_path: Path) -> None:
    folder = tmp_path / "agents"
    folder.mkdir()
    source = RUNS["a method of the class itself"][0]
    assert planned(folder, source).decisions.entry is not None
