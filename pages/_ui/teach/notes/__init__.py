"""Parts of the Notes page."""
