"""Write what production episodes start from, while the agent runs as it always does.

``run`` starts the agent's command with ``listening/sitecustomize.py`` on its path, which
notes where episodes begin and end; ``rows`` makes scenarios of the notes.
"""
