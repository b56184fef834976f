"""What app.py needs before any page."""
