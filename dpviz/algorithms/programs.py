"""Run other libraries' clusterers alongside ours; they see the raw rows, so dpviz cannot check what they promise.

A program is a class with `fit(X)`, `cluster_centers_` and an argument `n_clusters`, as in scikit-learn. The wrapper of
a program is an attribute of this module, where pickle finds it.
"""

from __future__ import annotations

import dataclasses
import importlib
import inspect
import math
import re
import sys
from collections.abc import Callable, Mapping
from typing import Any, ClassVar

import numpy as np

from dpviz.algorithms.base import Algorithm
from dpviz.algorithms.kmeans import raw_rows
from dpviz.algorithms.pseudocode import Line
from dpviz.domain import Domain
from dpviz.frozen import freeze
from dpviz.geometry import alone
from dpviz.params import param
from dpviz.privacy.guarantee import Guarantee, Neighboring, Notion
from dpviz.privacy.plan import Plan
from dpviz.privacy.rows import Rows
from dpviz.trace import Step, Trace

__all__ = ["Program", "program"]

_LONGEST = 200  # maximum number of characters shown of another program's message
# Arguments that are passed to a program if it accepts them.
_GIVEN = {"n_clusters", "epsilon", "bounds", "random_state"}
_EPSILON = param(
    1.0, low=0.01, high=100, log=True, help="Epsilon that the program receives; the program decides how to use it."
)


@dataclasses.dataclass(frozen=True, kw_only=True)
class Program(Algorithm):
    """Base class of programs, which passes rows in z units to `fit`, reads `cluster_centers_` and promises nothing."""

    notion: ClassVar[Notion] = Notion.CLAIMED
    trust: ClassVar[str] = "the program, which sees the raw rows and draws its own noise"
    MAKES: ClassVar[type]  # the program's class
    TAKES: ClassVar[frozenset[str]]  # names of the arguments passed to the program

    def plan(self, n_features: int, n_public: int) -> Plan:
        """Return an empty plan: the curator releases nothing."""
        return Plan({})

    def guarantee(self, n_features: int, n_public: int, *, rows_per_person: int = 1) -> Guarantee:
        """Return a guarantee with infinite epsilon: dpviz promises nothing."""
        return Guarantee(self.notion, Neighboring.ADD_REMOVE, math.inf, 1.0, trust=self.trust)

    def run(
        self,
        X: np.ndarray | Rows,
        *,
        domain: Domain | None = None,
        seed: int | None = None,
        noise: str = "seeded",
        on_step: Callable[[Step], None] | None = None,
        dataset_id: str = "unnamed",
    ) -> Trace:
        """Run on the raw rows, unclipped, without those with a non-finite cell; refuse any noise but "seeded".

        Raises
        ------
        ValueError
            If noise is not "seeded", there are fewer rows than clusters, `fit` raises, or the centers are not k finite
            points.
        TypeError
            If X is not an array or no domain is given.
        """
        Z, domain = raw_rows(self, X, domain, seed, noise)
        with alone():
            centers = self._fitted(Z, (-domain.box_z, domain.box_z), seed)
        step = Step("program", "The centers that the program returned", freeze({"centers": centers}))
        if on_step is not None:
            on_step(step)
        promise = self.guarantee(domain.n_features, len(Z))
        mute = "random_state" not in self.TAKES
        return Trace(
            algorithm=self.slug,
            name=self.name,
            parameters=freeze({field.name: getattr(self, field.name) for field in dataclasses.fields(self)}),
            dataset_id=dataset_id,
            domain=domain,
            seed=seed,
            steps=(step,),
            plan=Plan({}),
            ledger=(),
            claimed=promise,
            spent=promise,
            cluster_centers=freeze(domain.inside(centers)),
            warnings=(
                f"{self.name}: {self.notion}.",
                *(
                    (f"{self.name} takes no random_state, so the same seed may give different centers.",)
                    if mute
                    else ()
                ),
            ),
        )

    def _fitted(self, Z: np.ndarray, bounds: tuple[np.ndarray, np.ndarray], seed: int | None) -> np.ndarray:
        """Return the centers (k, d) that the program finds for rows (n, d), both in z units."""
        given = {"n_clusters": self.n_clusters, "bounds": bounds, "random_state": seed} | vars(self)
        try:
            model = self.MAKES(**{name: given[name] for name in self.TAKES})
            model.fit(Z)
            centers = np.asarray(model.cluster_centers_, dtype=np.float64)
        except Exception as error:
            raise ValueError(f"{self.name}: its fit failed with {_words(error)}.") from None
        if centers.shape != (self.n_clusters, Z.shape[1]):
            asked = f"({self.n_clusters}, {Z.shape[1]})"
            raise ValueError(f"{self.name}: its cluster_centers_ have the shape {centers.shape}, not {asked}.")
        if not np.isfinite(centers).all():
            raise ValueError(f"{self.name}: its cluster_centers_ contain a number that is not finite.")
        return centers


def program(place: str) -> type[Program]:
    """Return the algorithm that wraps the class at MODULE:CLASS; the same name gives the same algorithm.

    Raises
    ------
    ValueError
        If the class cannot be imported, is not a clusterer, or needs arguments that dpviz does not pass.
    """
    module, _, name = place.partition(":")
    if not re.fullmatch(r"[A-Za-z_][\w.]*:[A-Za-z_]\w*", place):
        raise ValueError(f"--outside: {place[:60]!r} must be MODULE:CLASS, as in diffprivlib.models:KMeans.")
    try:
        clusterer: Any = getattr(importlib.import_module(module), name)
    except Exception as error:
        raise ValueError(f"--outside: {place} cannot be imported: {_words(error)}.") from None
    if not isinstance(clusterer, type) or not callable(getattr(clusterer, "fit", None)):
        raise ValueError(f"--outside: {place} is not a class with a fit method.")
    taken = inspect.signature(clusterer).parameters
    if "n_clusters" not in taken:
        raise ValueError(f"--outside: {place} has no argument n_clusters.")
    if needed := [one.name for one in taken.values() if one.name not in _GIVEN and _needed(one)]:
        raise ValueError(f"--outside: {place} needs the argument {needed[0]}, which dpviz does not pass.")
    label = re.sub(r"\W", "_", place)
    mine = sys.modules[__name__]
    if label not in vars(mine):
        setattr(mine, label, _class(label, clusterer, module.partition(".")[0], frozenset(_GIVEN & taken.keys())))
    cls: type[Program] = getattr(mine, label)
    return cls


def _class(label: str, clusterer: type, library: str, takes: frozenset[str]) -> type[Program]:
    """Return the wrapper of a program, with a parameter epsilon if the program has one."""
    fields = [("epsilon", float, _EPSILON)] if "epsilon" in takes else []
    words = str(Notion.CLAIMED)
    names: Mapping[str, Any] = {
        "name": f"{clusterer.__name__} of {library}",
        "slug": re.sub(r"[^a-z0-9]+", "-", f"{library}-{clusterer.__name__}".lower()).strip("-"),
        "tagline": f"{words[0].upper()}{words[1:]}.",
        "MAKES": clusterer,
        "TAKES": takes,
        "CODE": (
            Line(f"hand the rows to {clusterer.__name__} of {library}", ("program",), at=("first",)),
            Line("it draws its own noise, if any", ("program",), at=("first",)),
            Line("take the centers that it returns", ("program",), at=("end",)),
        ),
        "__module__": __name__,
        "__doc__": f"{clusterer.__name__} of {library}: {words}.",
    }
    return dataclasses.make_dataclass(label, fields, bases=(Program,), namespace=dict(names), frozen=True, kw_only=True)


def _needed(argument: inspect.Parameter) -> bool:
    return argument.default is argument.empty and argument.kind not in (argument.VAR_KEYWORD, argument.VAR_POSITIONAL)


def _words(error: BaseException) -> str:
    """Return an error as one short line."""
    return " ".join(f"{type(error).__name__}: {error}".split())[:_LONGEST].rstrip(".")
