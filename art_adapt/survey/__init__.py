"""Finds what is in an agent. Reads only: nothing is executed, nothing is decided."""
