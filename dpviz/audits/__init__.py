"""Attacks on our own promises: neighbors built to break them, and what an adversary provably learns."""
