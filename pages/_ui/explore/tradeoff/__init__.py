"""Parts of the Trade-off page."""
