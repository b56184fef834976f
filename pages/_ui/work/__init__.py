"""Computation for the pages: jobs, workers, runs, results."""
