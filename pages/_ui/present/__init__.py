"""Present: a deck of scenes with notes, pictures made in advance, and a show that needs no network."""
