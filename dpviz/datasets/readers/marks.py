"""List the marks of a cell without a value."""

__all__ = ["MISSING"]

MISSING = ("NA", "N/A", "n/a", "NaN", "nan", "-nan", "null", "NULL", "None", "#N/A", "-", "?", ".")
