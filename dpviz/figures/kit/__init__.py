"""What every family's pictures are made of."""
