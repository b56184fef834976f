"""The atlas: runs on the samples, which are the same for everybody, computed once and shipped as tables."""
