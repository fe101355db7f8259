"""Rehearse on a real vLLM: ART's LocalBackend, a LoRA that torch trains here, swapped over HTTP.

The base model is made on the spot, with random weights. vLLM lives in an environment of its
own, because its packages and ART's do not fit into one.
"""
