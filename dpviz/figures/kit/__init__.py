"""Provide the parts of figures that all families share."""
