"""Parts of the Distance page."""
