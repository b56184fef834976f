"""Pictures that belong to no single run: comparisons, lessons, sweeps, data."""
