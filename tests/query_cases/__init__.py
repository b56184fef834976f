"""One case per Query type; add a new type to its family's module, or test_queries.py fails."""

from tests.query_cases import bins, boxes, cells, counts, grids, lloyd, mixtures, moments, rho, sums, swaps, trees

CASES = {
    **bins.CASES,
    **boxes.CASES,
    **cells.CASES,
    **counts.CASES,
    **grids.CASES,
    **lloyd.CASES,
    **mixtures.CASES,
    **moments.CASES,
    **rho.CASES,
    **sums.CASES,
    **swaps.CASES,
    **trees.CASES,
}
