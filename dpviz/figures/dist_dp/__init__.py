"""Draw the dist-DP family."""
