"""What episodes start from: the forms of sources, their rows, and a look at them.

Nothing here imports ART, or an agent.
"""
