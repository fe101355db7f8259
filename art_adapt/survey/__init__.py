"""Finds what is in an agent. It only reads: nothing is executed, nothing is decided."""
