"""Listens inside the agent's process. It needs the standard library only, because it runs in the agent's environment."""
