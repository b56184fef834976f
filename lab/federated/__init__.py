"""Federated runs over TLS: the parties are processes or machines that authenticate each other."""
