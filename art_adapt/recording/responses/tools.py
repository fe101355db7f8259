"""Tools and tool choices of the Responses API as chat completions know them."""

from __future__ import annotations

from typing import Any

from art_adapt.recording.responses.items import CUSTOM_INPUT
from art_adapt.recording.responses.untranslatable import Untranslatable

Json = dict[str, Any]


def chat_tool(tool: Json) -> Json:
    """Return a tool as chat completions know it.

    ``strict`` is dropped: it changes how OpenAI samples, not what a model reads.
    """
    if tool["type"] == "function":
        if "name" not in tool:
            raise Untranslatable("a chat completion's tool, with a function inside")
        keys = ("name", "description", "parameters")
        function = {key: tool[key] for key in keys if tool.get(key) is not None}
        return {"type": "function", "function": function}
    if tool["type"] == "custom" and (tool.get("format") or {}).get("type") != "grammar":
        schema = {
            "type": "object",
            "properties": {CUSTOM_INPUT: {"type": "string"}},
            "required": [CUSTOM_INPUT],
        }
        function = {"name": tool["name"], "parameters": schema}
        if tool.get("description"):
            function["description"] = tool["description"]
        return {"type": "function", "function": function}
    raise Untranslatable(f"the tool {tool['type']}, which only OpenAI's servers have")


def chat_tool_choice(choice: Any) -> Any:
    if isinstance(choice, str):
        return choice
    if choice["type"] in ("function", "custom"):
        return {"type": "function", "function": {"name": choice["name"]}}
    if choice["type"] == "allowed_tools":
        return choice.get("mode", "auto")
    raise Untranslatable(f"tool_choice of the type {choice['type']}")


def allowed_tools(tools: list[Json], choice: Any) -> list[Json]:
    """Return the tools that ``tool_choice`` allows."""
    if not isinstance(choice, dict) or choice["type"] != "allowed_tools":
        return tools
    names = {tool.get("name") for tool in choice["tools"]}
    return [tool for tool in tools if tool.get("name") in names]
