"""The error of a request that chat completions have no words for."""

from __future__ import annotations


class Untranslatable(ValueError):
    """The request asks for what only OpenAI's servers have."""
