"""Draw the grid family."""
