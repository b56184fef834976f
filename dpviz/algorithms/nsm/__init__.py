"""NSM and its parts."""
