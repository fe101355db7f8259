"""What was seen of the agent in a run: the functions around each request, and what they were given.

``capture`` writes the notes, ``notes`` reads them, ``episodes`` tells which function runs an
episode.
"""
