"""Provide the parts of every family's pictures."""
