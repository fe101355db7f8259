"""Turn an agent that calls the OpenAI client into one that ART can train."""

__version__ = "0.1.0"
