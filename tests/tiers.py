"""Choose the quick instances of a parametrized test, and mark all others as slow."""

import pytest

__all__ = ["tiers"]


def tiers(values, quick):
    """Return a parameter's values; mark all but those in `quick` (or the first `quick`, if it is a number) as slow."""
    values = list(values)
    kept = values[:quick] if isinstance(quick, int) else quick
    return [value if value in kept else _slow(value) for value in values]


def _slow(value):
    several = value if isinstance(value, tuple) else (value,)
    return pytest.param(*several, marks=pytest.mark.slow)
