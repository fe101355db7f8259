"""Resolves names to functions and classes, and says who calls whom."""
