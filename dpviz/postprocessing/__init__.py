"""Postprocessing of released values: it costs no privacy, because it reads no row."""
