"""Reports what was found and done: in a terminal, piped, as JSON."""
