"""Pictures of the Lloyd family."""
