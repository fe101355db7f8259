"""Finds completion calls, and what is done with their answers."""
