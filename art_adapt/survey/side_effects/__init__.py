"""Finds what an episode, or an import, does beyond itself."""
