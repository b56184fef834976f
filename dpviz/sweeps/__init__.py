"""Sweeps: many runs on public data, from the specification through the engine to rows, summaries and a report."""
