"""Trees of halved boxes: their numbering, and the number of rows in each box."""

from __future__ import annotations

import dataclasses
from typing import ClassVar

import numpy as np

from dpviz.frozen import ReadOnly
from dpviz.privacy.block import Block
from dpviz.privacy.guarantee import Neighboring
from dpviz.privacy.queries.base import Query, one_entry

__all__ = ["BoxCounts", "Halvings"]


@dataclasses.dataclass(frozen=True, eq=False)
class Halvings(ReadOnly):
    """The public tree of halved boxes: each box is cut in the middle of its widest column.

    The root is 1, and the halves of node i are 2i (below the middle) and 2i + 1. A node's box follows from its number.

    Parameters
    ----------
    half : ndarray of shape (d,), half-widths of the root around 0
    deepest : int, boxes of this depth are halved no further
    threshold : float, a box is halved if its biased, noisy count is above this threshold
    """

    half: np.ndarray
    deepest: int
    threshold: float = 0.0
    reason: ClassVar[str] = "a row lies in one box of each depth, and the chance of halving it falls with the depth"

    def box(self, node: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the bounds (low, high) of a node's box, shape (d,) each."""
        low, high = -np.array(self.half, dtype=np.float64), np.array(self.half, dtype=np.float64)
        for bit in bin(node)[3:]:
            column = _widest(low, high)
            middle = (low[column] + high[column]) / 2
            (high if bit == "0" else low)[column] = middle
        return low, high

    def counts(self, nodes: np.ndarray) -> BoxCounts:
        """Return the query that counts the rows in disjoint nodes."""
        return BoxCounts(self.half, tuple(int(node) for node in nodes))


def _widest(low: np.ndarray, high: np.ndarray) -> int:
    """Return the widest column of a box, or the first of equally wide ones, regardless of rounding in the halving."""
    width = high - low
    return int(np.argmax(width > width.max() * (1 - 1e-9)))


@dataclasses.dataclass(frozen=True, eq=False)
class BoxCounts(Query):
    """Count the rows in each of several disjoint boxes of a tree of halvings.

    A row below the middle of a box belongs to its lower half, any other row to its upper half, so every row is in one
    half; rows outside the root are counted as if they lay at its border.

    Parameters
    ----------
    half : ndarray of shape (d,), as for `Halvings`
    nodes : tuple of ints, numbers of boxes of which none contains another

    Returns (`statistic`): "" -> ndarray of shape (len(nodes),), whole numbers.
    """

    half: np.ndarray
    nodes: tuple[int, ...]
    reason: ClassVar[str] = "one row lies in at most one of the boxes"
    whole: ClassVar[tuple[str, ...]] = ("",)

    def __post_init__(self) -> None:
        super().__post_init__()
        if len(set(self.nodes)) < len(self.nodes) or set(self.nodes) & _above(self.nodes):
            raise ValueError("BoxCounts: nodes must be disjoint boxes: none twice, and none inside another.")

    def statistic(self, block: Block) -> dict[str, np.ndarray]:
        place, inner = {node: i for i, node in enumerate(self.nodes)}, _above(self.nodes)
        counts = np.zeros(len(self.nodes))
        root = -np.array(self.half, dtype=np.float64), np.array(self.half, dtype=np.float64)
        todo = [(1, *root, np.arange(block.n))]
        while todo:
            node, low, high, rows = todo.pop()
            if node in place:
                counts[place[node]] = len(rows)
            elif node in inner:
                column = _widest(low, high)
                middle = (low[column] + high[column]) / 2
                above = block.x[rows, column] >= middle
                left, right = high.copy(), low.copy()
                left[column] = right[column] = middle
                todo += [(2 * node, low, left, rows[~above]), (2 * node + 1, right, high, rows[above])]
        return {"": counts}

    def sensitivity(self, norm: float, neighboring: Neighboring) -> dict[str, float]:
        return {"": one_entry(norm, neighboring)}


def _above(nodes: tuple[int, ...]) -> set[int]:
    """Return the nodes whose boxes properly contain the box of one of these nodes."""
    return {node >> up for node in nodes for up in range(1, node.bit_length())}
