"""Find the cells of points in randomly shifted quadtrees, level by level, and the centers of cells.

The root of a tree with shift v in [0, 4)^d is the cube [-2 - v, 6 - v]^d of side 8, which holds [-2, 2]^d for every v;
level l has cells of side 8 / 2^l. Points and shifts lie on the 2^-24 grid and sides are powers of two, so cells are
exact: a point's cells depend on that point and the shift only.
"""

from __future__ import annotations

import numpy as np

__all__ = ["DEPTH", "cells", "centers", "count_cells", "side"]

DEPTH = 10  # deepest level: cell numbers of one coordinate take at most 10 bits
_ROOT = 8.0
_PER_WORD = 6  # number of coordinates packed into one int64


def side(level: np.ndarray | int) -> np.ndarray:
    """Return the side length of a level's cells."""
    return _ROOT / 2.0 ** np.asarray(level)


def cells(points: np.ndarray, shift: np.ndarray, level: int) -> np.ndarray:
    """Return the cell numbers of points (n, d) in one tree and level, 6 coordinates to a word: (n, words) int64."""
    numbers = np.floor((points + (2.0 + shift)) / side(level)).astype(np.int64)
    d = numbers.shape[1]
    packed = np.zeros((len(numbers), -(-d // _PER_WORD)), dtype=np.int64)
    for j in range(d):
        packed[:, j // _PER_WORD] |= numbers[:, j] << (DEPTH * (j % _PER_WORD))
    return packed


def count_cells(points: np.ndarray, shifts: np.ndarray, levels: tuple[int, ...]) -> tuple[np.ndarray, np.ndarray]:
    """Count the points in each non-empty cell of every tree and level.

    Parameters
    ----------
    points : ndarray of shape (n, d), in [-2, 2]^d, on the grid
    shifts : ndarray of shape (r, d), in [0, 4)^d, on the grid, one tree each
    levels : tuple of int, ascending, at most `DEPTH`

    Returns
    -------
    keys : ndarray of shape (m, 2 + words), int64, rows (tree, level, packed cell numbers) in lexicographic order
    counts : ndarray of shape (m,), int64
    """
    words = -(-points.shape[1] // _PER_WORD)
    keys, counts = [np.empty((0, 2 + words), dtype=np.int64)], [np.empty(0, dtype=np.int64)]
    for tree, shift in enumerate(shifts):
        for level in levels:
            packed = cells(points, shift, level)
            order = np.lexsort(packed.T[::-1])
            ordered = packed[order]
            first = np.flatnonzero(np.r_[True, (ordered[1:] != ordered[:-1]).any(axis=1)][: len(ordered)])
            keys.append(np.column_stack([np.full(len(first), tree), np.full(len(first), level), ordered[first]]))
            counts.append(np.diff(np.r_[first, len(ordered)]))
    return np.concatenate(keys), np.concatenate(counts)


def centers(keys: np.ndarray, shifts: np.ndarray) -> np.ndarray:
    """Return the centers (m, d), on the grid, of the cells that keys of `count_cells` name."""
    tree, level, packed = keys[:, 0], keys[:, 1], keys[:, 2:]
    d = shifts.shape[1]
    numbers = np.empty((len(keys), d))
    for j in range(d):
        numbers[:, j] = (packed[:, j // _PER_WORD] >> (DEPTH * (j % _PER_WORD))) & ((1 << DEPTH) - 1)
    return (numbers + 0.5) * side(level)[:, None] - 2.0 - shifts[tree]
