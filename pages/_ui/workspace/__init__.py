"""The controls of all pages that ask about runs."""
