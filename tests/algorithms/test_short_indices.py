"""Run every algorithm as where an index of an array has 32 bits, such as in WebAssembly."""

import numpy as np
import pytest

from dpviz.algorithms import ALGORITHMS
from dpviz.geometry import kernels
from dpviz.testing.runs import MADE, built, declared
from tests.traces import OPTIONS

ROWS = MADE["two groups, 2 columns"]
count = np.bincount


def fits(indices):
    """Refuse what older versions of numpy refuse there: only integers that surely fit 32 bits are indices."""
    indices = np.asarray(indices)
    if not np.can_cast(indices.dtype, np.int32, "safe"):
        raise TypeError(f"Cannot cast array data from {indices.dtype} to int32 according to the rule 'safe'")
    return indices


@pytest.mark.parametrize("slug", ALGORITHMS)
def test_labels_of_64_bits_are_counted_where_indices_have_32(slug, monkeypatch):
    algorithm = built(
        ALGORITHMS[slug], **{"n_clusters": 3, "epsilon": 4.0, "rho_distance": 0.02, **OPTIONS.get(slug, {})}
    )
    domain = declared(ROWS, scale="common")
    long = algorithm.run(ROWS, domain=domain, seed=0)
    monkeypatch.setattr(kernels, "_INDEX", np.int32)
    monkeypatch.setattr(np, "bincount", lambda labels, *rest, **more: count(fits(labels), *rest, **more))
    short = algorithm.run(ROWS, domain=domain, seed=0)
    np.testing.assert_array_equal(short.cluster_centers, long.cluster_centers)


def test_an_index_of_64_bits_is_refused_here():
    with pytest.raises(TypeError):
        fits(np.array([2**40]))
