"""The Responses API in terms of chat completions, for agents that call it.

Plain JSON in and out; nothing is sent here. Shapes of items and events: openai 2.54,
types/responses.
"""

from art_adapt.recording.responses.conversations import Conversations
from art_adapt.recording.responses.events import Events
from art_adapt.recording.responses.turn import Turn
from art_adapt.recording.responses.untranslatable import Untranslatable

__all__ = ["Conversations", "Events", "Turn", "Untranslatable"]
