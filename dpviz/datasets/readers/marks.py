"""List the marks that stand for a missing value."""

__all__ = ["MISSING"]

MISSING = (
    *("NA", "N/A", "n/a", "NaN", "nan", "-nan", "null", "NULL", "None", "-", "?", "."),
    *("#N/A", "#DIV/0!", "#NAME?", "#NULL!", "#NUM!", "#REF!", "#VALUE!"),  # of Excel and SPSS
)
