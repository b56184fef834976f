"""The atlas: runs on the samples that are the same for everybody, computed once and shipped as a table."""
