"""Ask whoever adapts an agent what its source cannot tell, one question at a time.

``questions/`` has one question a file; ``dialogue`` asks those that are open, ``prompts``
shows them, ``sources`` finds what a repository has for them, and ``answers`` writes them to
``[tool.art-adapt]``.
"""

from art_adapt.guide.dialogue import Guide

__all__ = ["Guide"]
