"""Parts of the Account page."""
