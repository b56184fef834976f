"""Hold the version in a file that imports nothing, because the package, its records and its build all read it."""

__all__ = ["__version__"]

__version__ = "0.4.0"
