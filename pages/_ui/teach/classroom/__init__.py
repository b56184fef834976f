"""Parts of the Class page, on which everyone in the room is one point.

A class is kept in memory only, without names, and ends by itself.
"""
