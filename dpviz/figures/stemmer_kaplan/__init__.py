"""Draw the Stemmer-Kaplan family."""
