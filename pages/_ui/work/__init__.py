"""What computes, and who waits for it: jobs, workers, runs, results."""
