"""Run a private local search: the exponential mechanism picks one swap of a center at a time (Gupta et al.)."""

from __future__ import annotations

import math
from collections.abc import Generator

import numpy as np

from dpviz.algorithms.pseudocode import Line
from dpviz.geometry import sphere_pack
from dpviz.privacy.costs import Exponential
from dpviz.privacy.curator import Curator
from dpviz.privacy.queries import Projection, SetCosts, SetScore, SwapCosts, SwapScore
from dpviz.trace import Step

__all__ = ["SWAPS", "search_costs", "swap_search", "work_of_swaps"]

SWAPS = (  # pseudo-code of the search
    Line("begin with any k candidates", ("swap",), at=("first",)),
    Line("repeat: try each swap of center and candidate", ("swap",), at=("before",)),
    Line("  pick one, better ones more often", ("swap",), "swap"),
    Line("pick the best of all rounds, with noise", ("pick",), "pick"),
)


def search_costs(zcdp: float, swaps: int) -> dict[str, tuple[Exponential, ...]]:
    """Split a zCDP budget evenly among all swaps and the final choice of a set."""
    one = Exponential(math.sqrt(8 * zcdp / (swaps + 1)))
    return {"swap": (one,) * swaps, "pick": (one,)}


def swap_search(
    curator: Curator,
    candidates: np.ndarray,
    n_clusters: int,
    radius: float,
    rng: np.random.Generator,
    projection: Projection | None = None,
) -> Generator[Step, None, np.ndarray]:
    """Yield one step per swap and one for the final choice; return k of the candidates (k, d).

    The search starts at k random candidates, swaps as often as the plan allows, then chooses among all visited sets.
    If there are fewer than k candidates, public points spread over the ball are added.
    """
    if len(candidates) < n_clusters:
        p = candidates.shape[1]
        candidates = np.concatenate([candidates, sphere_pack(n_clusters - len(candidates), p, radius, rng)])
    chosen = rng.choice(len(candidates), n_clusters, replace=False)
    name = "centers" if projection is None else "projected_centers"
    sets, swaps = [chosen], len(curator.plan.costs["swap"])
    for swap in range(1, swaps + 1):
        picked = curator.select("swap", SwapScore(SwapCosts(candidates, chosen, radius, projection)))
        out, into = divmod(picked, len(candidates))
        moves = into not in chosen
        released = {
            "swap": swap, "swaps": swaps, "moves": moves, "out": candidates[chosen[out]], "in": candidates[into],
            "candidates": candidates,
        }  # fmt: skip
        if moves:
            chosen = np.concatenate([np.delete(chosen, out), [into]])
        sets.append(chosen)
        what = "one center moves" if moves else "no change"
        yield Step("swap", f"Swap {swap} of {swaps}: {what}", {**released, name: candidates[chosen]})
    best = curator.select("pick", SetScore(SetCosts(candidates, np.array(sets), radius, projection)))
    released = {"picked": best, "swaps": swaps, "candidates": candidates, name: candidates[sets[best]]}
    yield Step("pick", f"Of {len(sets)} sets of centers, the one after swap {best} is chosen", released)
    return candidates[sets[best]]


def work_of_swaps(swaps: int, n_public: int, n_candidates: float, n_clusters: int) -> float:
    """Return a rough number of operations of 10 ns: a swap compares every row, candidate and center that may go."""
    return 0.25 * swaps * n_public * max(n_candidates, n_clusters) * n_clusters
