"""One module a subject, each with ``check(setup)``; they run in the order of their names."""
