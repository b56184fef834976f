"""Pictures of the tree family."""
