"""Parts of the page Limits."""
