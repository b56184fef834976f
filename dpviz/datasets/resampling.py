"""Choose rows to stand for a larger or smaller number of people than a data set has."""

from __future__ import annotations

import numpy as np

__all__ = ["resampled"]

_SEED = 0


def resampled(n: int, wanted: int) -> np.ndarray:
    """Return the numbers of the rows, shape (wanted,), ascending, that stand for `wanted` people; always the same rows.

    Rows are drawn without replacement; if more rows are wanted than exist, complete copies of all rows come first.
    """
    copies, rest = divmod(wanted, n)
    drawn = np.random.default_rng(_SEED).permutation(n)[:rest]
    return np.sort(np.concatenate([np.tile(np.arange(n), copies), drawn]))
