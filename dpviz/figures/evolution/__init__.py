"""Pictures of the evolution family."""
