"""A graph of a model and a tool, on LangGraph."""

from langchain_core.tools import tool
from langchain_openai import ChatOpenAI
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode, tools_condition


@tool
def depth(lake: str) -> str:
    """Depth of a lake in metres."""
    return {"Como": "425", "Garda": "346"}.get(lake, "unknown")


def make_graph():
    model = ChatOpenAI(model="gpt-4o-mini").bind_tools([depth])

    def talk(state: MessagesState) -> dict:
        return {"messages": [model.invoke(state["messages"])]}

    graph = StateGraph(MessagesState)
    graph.add_node("talk", talk)
    graph.add_node("tools", ToolNode([depth]))
    graph.add_edge(START, "talk")
    graph.add_conditional_edges("talk", tools_condition)
    graph.add_edge("tools", "talk")
    return graph.compile()


def answer(question: str) -> str:
    state = make_graph().invoke({"messages": [("user", question)]})
    return state["messages"][-1].content
