"""Give every picture an address: scenes, links, sharing, decks."""
