"""Reads Python: a node, a file, the files of a project and what they are imported as."""
