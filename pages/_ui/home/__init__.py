"""Parts of the page Start."""
