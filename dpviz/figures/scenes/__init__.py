"""Draw what does not belong to a single run: comparisons, lessons, sweeps, data."""
