"""Draw the Lloyd family."""
