"""Run all candidates of a private choice and keep the best of the first K."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from dpviz.privacy.answers import Chosen
from dpviz.privacy.block import Block
from dpviz.privacy.queries import Candidates, Query

__all__ = ["Truth", "race"]

Truth = Callable[[Query], Mapping[str, np.ndarray]]
Draw = Callable[[str, np.ndarray], np.ndarray]


def race(
    query: Candidates,
    tried: int,
    most: int,
    truth: Truth,
    draw: Draw,
    pick: Callable[[int], int],
    sd: Mapping[str, float],
    *,
    watched: bool,
) -> tuple[Chosen, Mapping[str, np.ndarray]]:
    """Return (the winner, the candidates that count if `watched`).

    All `most` candidates run, so the number of passes over the rows does not tell how many count. If none counts, a
    candidate on no rows is released, which depends on nobody. Candidates are drawn in the same way and independently,
    so the first of several equal ones is a random one of them.

    Parameters
    ----------
    tried : number of candidates that count, secret
    truth : function that answers a query with the true statistic
    draw : function of (part, true statistic) that adds the noise
    pick : function of a number that returns one of 0, 1, ... below it, uniformly
    sd : standard deviations of the noise, for the winner
    watched : whether to return the others, for DEMO's hidden record only
    """

    def nobody(asked: Query) -> Mapping[str, np.ndarray]:
        return asked.statistic(Block(np.zeros((0, len(query.half)))))

    blank = _candidate(query, pick(len(query.starts)), nobody, draw, sd)
    every = [_candidate(query, pick(len(query.starts)), truth, draw, sd) for _ in range(most)]
    ranks = [(query.score(len(one.centers[-1]), one.cost), len(one.centers[-1])) for one in every]
    first = min(range(tried), key=ranks.__getitem__, default=None)
    winner = blank if first is None else every[first]
    if not watched:
        return winner, {}
    return winner, {
        "tried": np.array([tried]),
        "sizes": np.array([size for _, size in ranks[:tried]], dtype=np.int64),
        "scores": np.array([score for score, _ in ranks[:tried]]),
        "ends": np.concatenate([np.zeros((0, len(query.half))), *(one.centers[-1] for one in every[:tried])]),
        "winner": np.array([-1 if first is None else first]),
    }


def _candidate(query: Candidates, start: int, truth: Truth, draw: Draw, sd: Mapping[str, float]) -> Chosen:
    centers, sums, counts = [query.starts[start]], [], []
    for _ in range(query.rounds):
        true = truth(query.update(centers[-1]))
        sums.append(draw("sums", true["sums"]))
        counts.append(draw("counts", true["counts"]))
        centers.append(query.moved(centers[-1], sums[-1], counts[-1]))
    cost = draw("cost", truth(query.loss(centers[-1]))[""])
    return Chosen(start, tuple(centers), tuple(sums), tuple(counts), float(cost[0]), sd)
