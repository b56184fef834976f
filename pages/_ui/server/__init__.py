"""The parts of the server that app.py sets up before any page."""
