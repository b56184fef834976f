"""Pictures of NSM."""
