"""What is made of released values only: it costs nothing, because no row is asked."""
