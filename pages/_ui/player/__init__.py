"""What draws a run and steps through it."""
