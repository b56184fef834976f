"""Class: everyone in the room is one point. It is kept in memory only, without names, and ends by itself."""
