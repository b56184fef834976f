"""The Stemmer-Kaplan family and its relatives: reports, shuffling, swaps, Balcan."""
