"""The questions, one a file: ``ORDER``, and ``questions(situation)`` that yields open ones."""
