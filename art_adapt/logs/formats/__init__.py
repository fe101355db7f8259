"""The formats of logs, one a module.

A module has ``NAME``, for messages, and ``read(row)``, which returns the `Entry` that a row
is, or None if it is not of the format. No two read the same row.
"""
