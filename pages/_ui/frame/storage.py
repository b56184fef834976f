"""Hold the script with which others keep a value in the visitor's browser."""

from pathlib import Path

__all__ = ["STORAGE"]

STORAGE = (Path(__file__).parent / "storage.js").read_text()
