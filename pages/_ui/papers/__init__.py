"""Parts of the page Papers."""
