"""Pictures of the grid family."""
