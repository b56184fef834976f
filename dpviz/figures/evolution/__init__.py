"""Draw the evolution family."""
