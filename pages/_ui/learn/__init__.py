"""Learn: one engine for all lessons."""
