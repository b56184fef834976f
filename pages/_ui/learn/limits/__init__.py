"""Parts of the Limits page."""
