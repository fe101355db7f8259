"""A desk clerk on the OpenAI Agents SDK."""

from agents import Agent, Runner, function_tool

HOURS = {"Monday": "9 to 17", "Sunday": "closed"}


@function_tool
def opening_hours(day: str) -> str:
    """When the museum is open."""
    return HOURS.get(day, "10 to 18")


clerk = Agent(
    name="Clerk",
    instructions="You are the desk of a museum.",
    model="gpt-4o-mini",
    tools=[opening_hours],
)


def answer(question: str) -> str:
    return Runner.run_sync(clerk, question).final_output
