"""Collect one case per Query type; test_queries.py fails until a new type has a case in its family's module."""

from tests.query_cases import (
    bins,
    boxes,
    cells,
    counts,
    grids,
    lloyd,
    marginals,
    mixtures,
    moments,
    rho,
    sums,
    swaps,
    trees,
)  # fmt: skip

CASES = {
    **bins.CASES,
    **boxes.CASES,
    **cells.CASES,
    **counts.CASES,
    **grids.CASES,
    **lloyd.CASES,
    **marginals.CASES,
    **mixtures.CASES,
    **moments.CASES,
    **rho.CASES,
    **sums.CASES,
    **swaps.CASES,
    **trees.CASES,
}
