"""Attacks on our own promises: neighboring data sets built to break them, and bounds on what an adversary learns."""
