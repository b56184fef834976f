"""The curator: the only way from an algorithm to the rows. It prices, draws and records every release."""

from __future__ import annotations

import dataclasses
import math
from collections import defaultdict
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from dpviz.frozen import freeze
from dpviz.privacy.guarantee import Neighboring
from dpviz.privacy.noise import Noise
from dpviz.privacy.plan import Cost, Plan, Release
from dpviz.privacy.queries import Query
from dpviz.privacy.rows import ALL, Rows

__all__ = ["ALL", "Curator", "Hidden", "Noisy"]


class Hidden(NamedTuple):
    """A true statistic behind a release. It exists in DEMO runs only and is NOT PRIVATE."""

    label: str
    scope: int
    statistic: Mapping[str, np.ndarray]


class Noisy(NamedTuple):
    """A released statistic.

    Attributes
    ----------
    value : ndarray, or dict part -> ndarray where the query has several parts
    sd : standard deviation of the noise, float or dict likewise
    """

    value: Any
    sd: Any


class Curator:
    """Answers queries under a plan.

    Parameters
    ----------
    rows : Rows
    plan : Plan, every release must be in it
    noise : Noise
    neighboring : Neighboring, the relation that the plan's costs are meant for
    n_public : int, the declared nominal size
    demo : bool, keep true statistics for hidden layers
    """

    def __init__(
        self, rows: Rows, plan: Plan, noise: Noise, *, neighboring: Neighboring, n_public: int, demo: bool
    ) -> None:
        self.plan = plan
        self.neighboring = neighboring
        self.n_public = n_public
        self.n_features = rows.n_features
        self._session = rows.open()
        self._noise = noise
        self._demo = demo
        self._ledger: list[Release] = []
        self._hidden: list[Hidden] = []
        self._met: defaultdict[str, defaultdict[int, int]] = defaultdict(lambda: defaultdict(int))

    @property
    def ledger(self) -> tuple[Release, ...]:
        """Every release so far."""
        return tuple(self._ledger)

    def release(self, label: str, query: Query, scope: int = ALL) -> Noisy:
        """Release one noisy statistic of the rows in `scope`.

        Raises
        ------
        PermissionError
            If the plan holds no such release (before anything is drawn), or for a scope outside add/remove.
        """
        path = self._session.path(scope)
        if scope != ALL and self.neighboring is not Neighboring.ADD_REMOVE:
            raise PermissionError(
                f"Curator: release {label!r} asks for a part of the rows under {self.neighboring}; "
                "parts are allowed under add-remove only, because a changed row may leave one part and enter another."
            )
        occurrence = self._occurrence(label, path)
        priced = {
            part: self._price(label, part, query, occurrence, path)
            for part in query.sensitivity(2, self.neighboring)
        }
        self._met[label][scope] += 1

        def draw(part: str, true: np.ndarray) -> np.ndarray:
            cost, entry = priced[part]
            self._ledger.append(dataclasses.replace(entry, shape=true.shape))
            return true + cost.draw(self._noise, entry.scale, true.shape)

        noisy, true = self._session.noisy_sum(query, scope, draw)
        if self._demo:
            self._hidden.append(Hidden(label, scope, freeze({part or label: value for part, value in true.items()})))
        sds = {part: cost.sd(entry.scale) for part, (cost, entry) in priced.items()}
        return Noisy(_unwrap(noisy), _unwrap(sds))

    def drain_hidden(self) -> tuple[Hidden, ...]:
        """Return and forget the true statistics since the last call: the driver's, never an algorithm's."""
        hidden, self._hidden = tuple(self._hidden), []
        return hidden

    def _occurrence(self, label: str, path: tuple[int, ...]) -> int:
        """How often a row on this path has met the label at most."""
        met = self._met[label]
        above = sum(met[scope] for scope in path)
        below = 0
        for scope in list(met):
            chain = self._session.path(scope)
            if len(chain) > len(path) and chain[: len(path)] == path:
                below = max(below, sum(met[s] for s in chain[len(path) :]))
        return above + below

    def _price(self, label: str, part: str, query: Query, occurrence: int, path: tuple[int, ...]) -> tuple[Cost, Release]:
        name = f"{label}.{part}" if part else label
        cost = self.plan.price(name, occurrence)
        sensitivity = query.sensitivity(cost.norm, self.neighboring)[part]
        if not (math.isfinite(sensitivity) and sensitivity > 0):
            raise ValueError(f"Curator: release {name!r} must have a finite sensitivity > 0; got {sensitivity}.")
        return cost, Release(
            label=label,
            part=part,
            occurrence=occurrence,
            mechanism=type(cost).__name__,
            cost=dataclasses.asdict(cost),
            path=path,
            norm=cost.norm,
            sensitivity=sensitivity,
            reason=query.reason,
            scale=cost.scale(sensitivity),
            neighboring=str(self.neighboring),
        )


def _unwrap(parts: Mapping[str, Any]) -> Any:
    return parts[""] if set(parts) == {""} else dict(parts)
