"""Turn an agent that calls the OpenAI client into one that ART can train."""

from art_adapt import single_file
from art_adapt.codemods import editing

__version__ = "0.3.0"

# The commands in codemods edit with these, and import nothing of what is behind them.
editing.add_hooks = single_file.add_hooks
editing.remove_hooks = single_file.remove_hooks
