"""How an episode starts: what is made, what it is given, and how its answer comes back."""
