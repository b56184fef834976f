"""The atlas: runs of the methods on the samples, computed once and shipped, because they are the same for everybody."""
