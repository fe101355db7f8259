"""Finds what an entry point takes: parameters, records, objects, clients."""
