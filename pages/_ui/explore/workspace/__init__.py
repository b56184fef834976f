"""Controls of all pages that ask about runs."""
