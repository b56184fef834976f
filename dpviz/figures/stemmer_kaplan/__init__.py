"""Pictures of the Stemmer-Kaplan family."""
