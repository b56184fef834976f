"""Parts of the page Distance."""
