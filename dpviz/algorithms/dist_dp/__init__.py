"""The dist-DP family: algorithms that hide moves of up to rho."""
