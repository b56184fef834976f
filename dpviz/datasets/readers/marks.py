"""Say which cells count as missing: certain marks, and numbers that are too large."""

__all__ = ["LARGEST", "MISSING"]

MISSING = (
    *("NA", "N/A", "n/a", "NaN", "nan", "-nan", "null", "NULL", "None", "-", "?", "."),
    *("#N/A", "#DIV/0!", "#NAME?", "#NULL!", "#NUM!", "#REF!", "#VALUE!"),  # of Excel and SPSS
)

# numbers with a larger absolute value count as missing, so that no later step overflows, not even in float32
LARGEST = 1e30
