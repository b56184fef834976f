"""The Stemmer-Kaplan family and its relatives: local reports, shuffling, swaps, Balcan."""
