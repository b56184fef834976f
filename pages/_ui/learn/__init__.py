"""Parts of the Learn page, which show every lesson in the same way."""
