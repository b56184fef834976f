"""Run the papers' experiments again."""
