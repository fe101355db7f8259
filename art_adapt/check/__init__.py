"""``art-adapt check``: the rules, run over files."""
