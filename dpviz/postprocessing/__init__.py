"""Compute results from released values: this costs no privacy, because it reads no rows."""
