"""Pictures of the dist-DP family."""
