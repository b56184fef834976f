"""Present: a deck of scenes with notes, its pictures made ahead, and the show that needs no network."""
