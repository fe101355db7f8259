"""Finds how a project makes, fills and sets up its agent."""
