"""What the audit's tests share: the algorithms, the rows, and how sure a bound must be."""

import numpy as np

from dpviz.privacy.guarantee import Neighboring

AR = Neighboring.ADD_REMOVE
SURE = 0.9999  # so high that an honest algorithm is not accused by chance
ROWS = np.random.default_rng(1).uniform(-1, 1, (60, 2))


def honest(found, runs):
    """Whether noise looks like what the ledger says; repeats by chance are rare on a grid of 2^-24."""
    return found.p_value > 1e-5 and found.correlation < 5 and found.repeats <= runs / 2 and found.selections < 5
