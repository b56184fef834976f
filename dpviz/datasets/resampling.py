"""Choose rows for a number of people that differs from the data set's."""

from __future__ import annotations

import numpy as np

__all__ = ["resampled"]

_SEED = 0


def resampled(n: int, wanted: int) -> np.ndarray:
    """Return the row numbers (wanted,), ascending, that stand for `wanted` people drawn from n; always the same ones.

    Rows are drawn without replacement; if more are wanted than exist, whole copies of all rows come first.
    """
    copies, rest = divmod(wanted, n)
    drawn = np.random.default_rng(_SEED).permutation(n)[:rest]
    return np.sort(np.concatenate([np.tile(np.arange(n), copies), drawn]))
