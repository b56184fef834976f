"""The controls of the pages that ask about runs, in one place for all of them."""
