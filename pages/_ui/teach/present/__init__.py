"""Parts of the Present page: a deck of scenes with notes, pictures made in advance, a show that needs no network."""
