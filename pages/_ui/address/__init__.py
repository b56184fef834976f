"""A picture has an address: scenes, links, sharing, decks."""
