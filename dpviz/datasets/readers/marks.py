"""What is in a cell that has no value."""

__all__ = ["MISSING"]

MISSING = ("NA", "N/A", "n/a", "NaN", "nan", "-nan", "null", "NULL", "None", "#N/A", "-", "?", ".")
