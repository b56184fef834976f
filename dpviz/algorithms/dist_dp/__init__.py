"""The dist-DP family: privacy for moves up to rho."""
