"""Addresses of pictures: scenes, links, sharing, decks."""
