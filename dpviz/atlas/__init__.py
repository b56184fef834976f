"""The atlas: runs on the samples, computed once and shipped as tables because they are the same for everybody."""
