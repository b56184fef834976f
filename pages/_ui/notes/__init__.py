"""Parts of the page Notes."""
