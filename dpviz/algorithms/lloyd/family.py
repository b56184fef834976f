"""Run Lloyd's loop on noisy sums and counts, from a public start, for the five methods of this folder."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

import numpy as np

from dpviz.algorithms.base import Algorithm
from dpviz.algorithms.pseudocode import Line
from dpviz.domain import Domain
from dpviz.geometry import GRID, clip_ball, fold, pack_cube, snap, snap_toward_zero
from dpviz.params import param
from dpviz.postprocessing.center_sd import AVERAGES, average_sd, declared
from dpviz.privacy.curator import Curator
from dpviz.privacy.queries import NearestSums, Query
from dpviz.trace import Step

__all__ = ["NoisyLloyd"]


@dataclasses.dataclass(frozen=True, kw_only=True)
class NoisyLloyd(Algorithm):
    """Base class of the Lloyd family: start, number of iterations, dead clusters, and the rule at the bounds.

    Lengths scale with the domain's radius R (sqrt(d) for a box in z units), so a declared l2 bound reduces sums, noise
    and radii together. The paper's B sqrt(d) is R, and its diagonal beta is 2R.
    """

    NOISE: ClassVar[str] = AVERAGES  # what the stated noise of a center covers
    MIN_ITERATIONS: ClassVar[int] = 2
    MAX_ITERATIONS: ClassVar[int] = 7
    ERROR: ClassVar[float] = 0.004  # target mean squared error of an update, for a box of half-width 1 (Su et al.)
    SPREAD: ClassVar[float] = 0.225  # a center's assumed distance from the middle, per dimension (Su et al.)
    CODE: ClassVar[tuple[Line, ...]] = (
        Line("spread k centers over the public bounds", ("packing",)),
        Line("repeat for a few rounds:", ("noisy-iteration",)),
        Line("  assign each row to its nearest center", ("noisy-iteration",), "update", ("before",)),
        Line("  add up rows and count them, with noise", ("noisy-iteration",), "update"),
        Line("  divide: noisy sums by noisy counts", ("noisy-iteration",), at=("read",), events=("noise",)),
        Line("  bring centers back into the bounds", ("noisy-iteration",)),
    )

    epsilon: float = param(1.0, low=0.01, high=100, log=True, help="Privacy budget for the whole run.")
    iterations: int | None = param(
        None,
        low=1,
        high=30,
        kind="int",
        advanced=True,
        help="Number of rounds. The default follows from the paper's rule, between 2 and 7.",
    )
    init: str = param(
        "packing",
        choices=("packing", "packing-halving", "random"),
        advanced=True,
        help="Start: centers as far apart as a search can place them (binary search, or halving as in the published "
        "code), or at random in the box.",
    )
    boundary: str = param(
        "fold",
        choices=("fold", "clip", "none"),
        advanced=True,
        help="A center outside the box is reflected, moved to the edge, or left there (up to twice the radius).",
    )
    dead_cluster: str = param(
        "jump",
        choices=("jump", "keep"),
        advanced=True,
        help="If a noisy count is near or below 0, divide by it anyway (as published) or leave the center where it is.",
    )

    def affordable(self, n_features: int, n_public: int) -> float:
        """Return the largest number of iterations (a float) at which an update's expected error meets the target."""
        raise NotImplementedError

    def length(self, n_features: int, n_public: int) -> int:
        """Return the number of iterations T."""
        if self.iterations is not None:
            return self.iterations
        return int(np.clip(int(self.affordable(n_features, n_public)), self.MIN_ITERATIONS, self.MAX_ITERATIONS))

    def reach(self, iteration: int, domain: Domain) -> float | None:
        """Return the radius beyond which an iteration ignores rows, or None if it ignores none."""
        return None

    def first(self, n_features: int, domain: Domain, rng: np.random.Generator) -> Step:
        """Return the step that places the initial centers; nothing private is read."""
        centers = self._inside(self._start(n_features, domain, rng), domain)
        how = "are placed at random in" if self.init == "random" else "are spread over"
        title = f"{self.n_clusters} centers {how} the public domain; no row is read"
        return Step("packing", title, {"centers": centers})

    def few(self, noisy_counts: np.ndarray, sd: float) -> np.ndarray:
        """Return which clusters (k,) count as dead, given the standard deviation of their noisy counts."""
        return noisy_counts <= 1

    def gain(self, moves: np.ndarray, sd: np.ndarray) -> np.ndarray | float:
        """Return the share (k, 1) that is kept of moves (k, d) with this noise (k,) per column; 1.0 keeps them all."""
        return 1.0

    def beyond(self) -> dict[str, Any]:
        """Return the released entry that says what a row beyond the radius does, {} if it counts at no center."""
        return {}

    def shortens(self) -> bool:
        """Return whether a move longer than the radius is shortened to it."""
        return True

    def query(self, centers: np.ndarray, reach: float | None, domain: Domain) -> Query:
        """Return the query of an iteration; without a radius it sums whole rows."""
        return NearestSums(centers, domain.radius)

    def finest_grid(self) -> float:
        """Return the spacing of the grid on which centers lie."""
        return GRID

    def work(self, n_features: int, n_public: int) -> float:
        """Return a rough number of operations of 10 ns, from public values: releases, and the start."""
        start = 0.0 if self.init == "random" else 2.5e5 + 5e3 * self.n_clusters * n_features
        return super().work(n_features, n_public) + start

    def doubts(self, released: Mapping[str, Mapping[str, Any]], domain: Domain) -> tuple[str, ...]:
        """Return a warning if a single center may do as well as the released centers."""
        end = released["noisy-iteration"]
        return self.blurred(end, end["noisy_counts"], domain)

    def steps(self, curator: Curator, domain: Domain, rng: np.random.Generator) -> Iterator[Step]:
        """Place the initial centers, then assign, sum, divide and move; yield one step per iteration."""
        rounds = len(curator.plan.costs["update.sums"])
        start = self.first(curator.n_features, domain, rng)
        yield start
        centers, spread = start.released["centers"], np.zeros((self.n_clusters, curator.n_features))
        for t in range(rounds):
            reach = self.reach(t, domain)
            noisy = curator.release("update", self.query(centers, reach, domain))
            sums, counts = noisy.value["sums"], noisy.value["counts"]
            mean = sums / (counts + 1e-9)[:, None]
            moves = mean if reach is not None else mean - centers
            dead = self.few(counts, noisy.sd["counts"])
            gain = self.gain(moves, noisy.sd["sums"] / np.maximum(np.abs(counts), 1.0))
            moves = moves * gain
            if self.dead_cluster == "keep":
                moves = np.where(dead[:, None], 0.0, moves)
            short = moves
            if reach is not None and self.shortens():
                short = moves * np.minimum(1.0, reach / np.maximum(np.linalg.norm(moves, axis=1), reach))[:, None]
            start, centers = centers, self._inside(centers + short, domain)
            origins = start if reach is not None else 0.0
            own = average_sd(centers, counts, noisy.sd["counts"], noisy.sd["sums"], origins=origins)
            kept = np.where(dead[:, None], 1.0, gain)  # a dead cluster's center has at least the noise that holds it
            spread = np.sqrt((1 - kept) ** 2 * spread**2 + kept * own**2)
            yield Step(
                "noisy-iteration",
                f"Iteration {t + 1} of {rounds}: {_moved(start, centers)}",
                {
                    "centers": centers,
                    "start": start,
                    "raw": start + moves,
                    "clipped": start + short,
                    "noisy_counts": counts,
                    "dead": dead,
                    "radius": domain.radius if reach is None else reach,
                    "constrained": reach is not None,
                    **self.beyond(),
                    "sums_sd": noisy.sd["sums"],
                    "counts_sd": noisy.sd["counts"],
                    "round": t + 1,
                    "rounds": rounds,
                    **declared(spread, self.NOISE),
                },
            )

    def _start(self, d: int, domain: Domain, rng: np.random.Generator) -> np.ndarray:
        """Return packed or random points of the box, which is shrunk if its corners lie beyond the radius."""
        if self.init == "random":
            packed = rng.uniform(-1, 1, (self.n_clusters, d))
        else:
            packed = pack_cube(self.n_clusters, d, 1.0, rng, halving=self.init == "packing-halving")
        return packed * domain.box_z * min(1.0, domain.radius / float(np.linalg.norm(domain.box_z)))

    def _inside(self, centers: np.ndarray, domain: Domain) -> np.ndarray:
        """Apply the boundary rule to centers and snap them to the grid."""
        if self.boundary == "none":
            inside = clip_ball(snap(centers), 2 * domain.radius)
        else:
            inside = domain.clip(fold(centers, domain.box_z) if self.boundary == "fold" else centers)
        finest = self.finest_grid() / GRID
        return snap_toward_zero(inside / finest) * finest


def _moved(start: np.ndarray, centers: np.ndarray) -> str:
    return f"centers move by {float(np.linalg.norm(centers - start, axis=1).mean()):.3g} on average"
