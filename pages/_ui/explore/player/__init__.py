"""Draw a run and step through it."""
