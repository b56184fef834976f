"""Class: everyone in the room is one point. In memory only, without names, over by itself."""
