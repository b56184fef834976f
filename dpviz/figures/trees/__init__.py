"""Draw the tree family."""
