"""Finds the functions that may run an episode, and puts the likeliest first."""
