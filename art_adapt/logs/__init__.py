"""Scenarios from logs: exports of the services that keep what an agent asked in production.

Nothing here imports ART, or an agent, and nothing is fetched.
"""
