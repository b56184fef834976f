"""Made-up towns: groups of people whose sizes and distances are chosen, not read, to rehearse a run on."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy as np
from scipy.spatial.distance import pdist

from dpviz import validate
from dpviz.datasets.blobs import middles
from dpviz.numbers import number

__all__ = ["APART", "FARTHEST", "NEAREST", "TOUCHING", "Town", "equal", "shaped", "towns"]

APART = 8.0  # distance between the nearest middles of groups that are apart, in standard deviations of a group
TOUCHING = 3.0  # the same if they touch: more than half as many people are midway as in a group's middle
NEAREST, FARTHEST = 2.0, 10.0  # range of the distances that an owner may choose
_LARGEST, _TIMES = 0.6, 3.0  # share of an uneven town's largest group; the ratio of its second largest to its smallest
_MARGIN = 2.5  # number of standard deviations of a group that fit between its middle and the bounds


@dataclasses.dataclass(frozen=True)
class Town:
    """Round groups of people within declared bounds.

    Attributes
    ----------
    name : its name on screen
    shares : tuple of k floats, the share of the people in each group; they sum to 1
    apart : float, the distance between the nearest two middles, in standard deviations of a group in each column
    """

    name: str
    shares: tuple[float, ...]
    apart: float = APART

    @property
    def even(self) -> bool:
        """Return whether all groups have the same size."""
        return max(self.shares) - min(self.shares) < 1e-9

    def people(self, n: int, n_features: int, filled: float = 1.0) -> tuple[np.ndarray, np.ndarray]:
        """Return n people, shape (n, d), half-widths from the middle of the bounds, and the group of each, shape (n,).

        The middles follow from k and d alone. Middles and groups are scaled together, so that every group reaches at
        most to the bounds, or to the share `filled` of each column's bounds. Every group has at least two people,
        if n is large enough.
        """
        rng, k = np.random.default_rng(0), len(self.shares)
        places = middles(rng, k, n_features)
        sd = (pdist(places).min() if k > 1 else np.abs(places).max() + 1.0) / self.apart
        scale = filled / (np.abs(places).max() + _MARGIN * sd)
        labels = rng.permutation(np.repeat(np.arange(k), _sizes(n, self.shares)))
        Z = scale * (places[labels] + rng.normal(0, sd, (n, n_features)))
        return np.clip(Z, -filled, filled), labels


def _sizes(n: int, shares: Sequence[float]) -> np.ndarray:
    """Return how many of n people each group has; the largest group gives up those that the smallest ones lack."""
    sizes = np.maximum(np.floor(n * np.asarray(shares)).astype(int), min(2, n // len(shares)))
    sizes[int(np.argmax(shares))] += n - sizes.sum()
    return sizes


def equal(k: int) -> Town:
    """Return the easiest town: k groups of equal size that are apart."""
    return Town("equal and apart", (1 / k,) * k)


def towns(k: int) -> list[Town]:
    """Return three towns with k groups: equal and apart; one group of 60% and smaller ones; touching.

    Uneven shares are 60/30/10 for k = 3. For every k, the largest group has 60%, and the shares of the others fall
    geometrically to a third of the second largest. In the town that touches, the nearest middles are three standard
    deviations apart: KMeans without noise still finds every group (a test over k and d checks this; at 2.5 it already
    loses one with 15 groups and 20 columns). With a single group, all towns are one.
    """
    if k == 1:
        return [equal(1)]
    rest = _TIMES ** -np.linspace(0, 1, k - 1) if k > 2 else np.ones(1)
    shares = (_LARGEST, *((1 - _LARGEST) * rest / rest.sum()).tolist())
    touching = dataclasses.replace(equal(k), name="touching", apart=TOUCHING)
    return [equal(k), Town(_percents(shares), shares), touching]


def shaped(shares: Sequence[float], apart: float, k: int) -> Town:
    """Return a town of the owner's own, with shares that need not sum to 1 or 100.

    Raises
    ------
    ValueError
        If there is not one positive share for each of the k groups, or the distance is out of range.
    """
    if len(shares) != k:
        raise ValueError(f"plan: your town needs a share for each of its {k} groups; got {len(shares)}.")
    wrong = [share for share in shares if not 0 < share < 1e9]
    if wrong:
        raise ValueError(f"plan: the shares of your town must be above 0 and below 10⁹; got {number(wrong[0])}.")
    validate.in_range("plan", NEAREST, FARTHEST, apart=apart)
    total = sum(shares)
    exact = tuple(share / total for share in shares)
    return Town(f"yours, {_percents(exact)}", exact, apart)


def _percents(shares: Sequence[float]) -> str:
    words = [number(100 * share, 2) for share in shares]
    return "/".join(words if len(words) <= 6 else [*words[:3], "…", words[-1]])
