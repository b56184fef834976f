"""Record a run: frozen steps, split by type into released and hidden values."""

from __future__ import annotations

import dataclasses
import json
import math
from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np

from dpviz import notebook
from dpviz.domain import Domain
from dpviz.frozen import freeze
from dpviz.privacy.accounting import Total
from dpviz.privacy.curator import Hidden
from dpviz.privacy.guarantee import Guarantee
from dpviz.privacy.ledger import Release
from dpviz.privacy.ledger import spent as ledger_spent
from dpviz.privacy.plan import Plan
from dpviz.version import __version__

__all__ = ["Cancelled", "Coreset", "Hidden", "Step", "Trace", "freeze"]


SCHEMA = 1  # version of the JSON text, increased when an entry changes its meaning


class Cancelled(Exception):
    """Raised by an `on_step` callback to stop a run; the claim of a private run stays booked in full."""


@dataclasses.dataclass(frozen=True)
class Coreset:
    """A released weighted point set; any k-means on it is free.

    Attributes
    ----------
    points : ndarray of shape (m, d), original units
    weights : ndarray of shape (m,), noisy, >= 0
    sd : ndarray of shape (m,), standard deviation of each weight's noise
    """

    points: np.ndarray
    weights: np.ndarray
    sd: np.ndarray


@dataclasses.dataclass(frozen=True)
class Step:
    """One step of a run; an algorithm yields the first three fields, and the driver fills in the rest.

    All coordinates are in normalized z units of the run's domain.

    Attributes
    ----------
    kind : str, which selects the figures that draw the step
    title : str, one sentence
    released : values that an adversary may see: arrays, numbers and strings only
    index : int, counted from 0
    hidden : true statistics behind the releases of this step; empty unless the run is a DEMO
    n_releases : number of ledger entries when the step ends
    """

    kind: str
    title: str
    released: Mapping[str, Any]
    index: int = 0
    hidden: tuple[Hidden, ...] = ()
    n_releases: int = 0


@dataclasses.dataclass(frozen=True, repr=False)
class Trace:
    """The frozen record of one run.

    Attributes
    ----------
    algorithm : str, the slug; `name` is the name shown to people
    parameters : the public parameters, by name
    dataset_id : "sample:NAME" or a random token; never derived from the data
    domain : Domain, the declared public facts
    seed : int or None; None if the noise is secure
    steps : tuple of Step
    plan : Plan, the releases that the run may make and their costs
    ledger : tuple of Release, written by the functions that draw the noise
    claimed, spent : Guarantee, computed from the plan and, independently of it, from the ledger
    cluster_centers : ndarray of shape (k', d) in the ORIGINAL units of X, inside the declared box and ball
    coreset : Coreset or None
    warnings : doubts, raised by released values, about the result or the declared facts
    sampler : what drew the noise; "" if there is none, or if an older version wrote the trace
    from_file : True for a trace read from a file, which anybody could have written
    """

    algorithm: str
    name: str
    parameters: Mapping[str, Any]
    dataset_id: str
    domain: Domain
    seed: int | None
    steps: tuple[Step, ...]
    plan: Plan
    ledger: tuple[Release, ...]
    claimed: Guarantee
    spent: Guarantee
    cluster_centers: np.ndarray
    coreset: Coreset | None = None
    warnings: tuple[str, ...] = ()
    version: str = __version__
    sampler: str = ""
    from_file: bool = False

    @property
    def noiseless(self) -> bool:
        """Return whether the releases are the true answers: an experiment in DEMO that promises nothing."""
        return bool(self.ledger) and not self.claimed.private

    @property
    def notice(self) -> str:
        """Return the notice that every export of this trace must carry."""
        if not self.claimed.private:
            return f"NOT PRIVATE: {'computed from the raw rows without noise.' if self.claimed.exact else self.claimed}"
        if self.seed is not None:
            return "simulation: the seed is known, nothing here is private"
        return "released values only"

    def __repr__(self) -> str:
        spent = str(self.spent) if self.claimed.private else "not private"
        return f"<Trace: {self.name}, {len(self.cluster_centers)} centers, {len(self.steps)} steps; {spent}>"

    def _repr_html_(self) -> str:
        """Return the run's label as HTML, for notebooks."""
        return notebook.views.label(self)

    def show(self, height: int = 900) -> notebook.Frame:
        """Return the player for a notebook (Jupyter, marimo); it works without a server or a network."""
        return notebook.Frame(notebook.views.player(self), height)

    def to_json(self, *, include_hidden: bool = False) -> str:
        """Return JSON text; it holds hidden parts, and values of a trace without noise, only with `include_hidden`."""
        show = include_hidden or not self.claimed.exact
        record = {
            "schema": SCHEMA,
            "notice": self.notice,
            "version": self.version,
            "algorithm": self.algorithm,
            "name": self.name,
            "parameters": dict(self.parameters),
            "dataset_id": self.dataset_id,
            "domain": self.domain.to_dict(),
            "seed": self.seed,
            "plan": self.plan.to_dict(),
            "ledger": [dataclasses.asdict(entry) for entry in self.ledger],
            "claimed": self.claimed.to_dict(),
            "spent": self.spent.to_dict(),
            "cluster_centers": _encode(self.cluster_centers) if show else None,
            "coreset": None
            if self.coreset is None or not show
            else {field: _encode(getattr(self.coreset, field)) for field in ("points", "weights", "sd")},
            "sampler": self.sampler,
            "warnings": list(self.warnings),
            "steps": [
                {
                    "index": step.index,
                    "kind": step.kind,
                    "title": step.title,
                    "released": _encode(step.released if show else {}),
                    "hidden": [[h.label, h.scope, _encode(h.statistic)] for h in step.hidden] if include_hidden else [],
                    "n_releases": step.n_releases,
                }
                for step in self.steps
            ],
        }
        return json.dumps(_strict(record), allow_nan=False)

    @classmethod
    def from_json(cls, text: str) -> Trace:
        """Rebuild a trace written by `to_json`. The guarantee is computed again from the plan and the ledger.

        Raises
        ------
        ValueError
            If the text is not a trace, has another schema, lacks an entry, or claims a guarantee or a spent budget that
            does not follow from its plan or its ledger; the message is one sentence.
        """
        try:
            record = json.loads(text, object_hook=_number)
        except (ValueError, RecursionError):
            raise ValueError("trace: this is not a trace: the text is not JSON.") from None
        if not isinstance(record, dict) or not isinstance(schema := record.get("schema"), int):
            raise ValueError("trace: this is not a trace: it names no schema; write it again with `to_json`.")
        if schema != SCHEMA:
            raise ValueError(f"trace: dpviz {__version__} cannot read schema {schema}; it reads schema {SCHEMA}.")
        try:
            trace = cls._read(record)
            wrong = _disagreeing(trace, record)
        except KeyError as missing:
            raise ValueError(f"trace: entry {missing} is missing.") from None
        except (TypeError, AttributeError, ArithmeticError, IndexError):
            raise ValueError(
                "trace: an entry has the wrong type or is out of range; the file was changed or cut off."
            ) from None
        if wrong:
            raise ValueError(f"trace: {wrong} in the same file; the file was changed.")
        return trace

    @classmethod
    def _read(cls, record: dict[str, Any]) -> Trace:
        domain = Domain.from_dict(record["domain"])
        centers = record["cluster_centers"]
        centers = np.asarray(_decode(centers) if centers else np.empty((0, domain.n_features)), dtype=np.float64)
        texts = [record[name] for name in ("algorithm", "name", "dataset_id", "version")]
        if (
            centers.ndim != 2
            or centers.shape[1] != domain.n_features
            or not all(isinstance(text, str) for text in texts)
        ):
            raise TypeError
        steps = tuple(
            Step(
                step["kind"],
                step["title"],
                freeze(_decode(step["released"])),
                index=step["index"],
                hidden=tuple(Hidden(label, scope, freeze(_decode(true))) for label, scope, true in step["hidden"]),
                n_releases=step["n_releases"],
            )
            for step in record["steps"]
        )
        return cls(
            algorithm=record["algorithm"],
            name=record["name"],
            parameters=freeze(record["parameters"]),
            dataset_id=record["dataset_id"],
            domain=domain,
            seed=record["seed"],
            steps=steps,
            plan=Plan.from_dict(record["plan"]),
            ledger=tuple(Release(**entry) for entry in record["ledger"]),
            claimed=Guarantee.from_dict(record["claimed"]),
            spent=Guarantee.from_dict(record["spent"]),
            cluster_centers=freeze(centers),
            coreset=None
            if record["coreset"] is None
            else Coreset(**{key: freeze(_decode(value)) for key, value in record["coreset"].items()}),
            warnings=tuple(record.get("warnings", ())),
            version=record["version"],
            sampler=record.get("sampler", ""),
            from_file=True,
        )


def _disagreeing(trace: Trace, record: Mapping[str, Any]) -> str:
    """Name the part of a trace that does not follow from the other parts; return "" if all parts agree."""
    claimed, spent = trace.claimed, trace.spent
    words = (trace.dataset_id, *trace.warnings, *(text for step in trace.steps for text in (step.kind, step.title)))
    words += (trace.sampler, claimed.trust, spent.trust, *claimed.public, *spent.public)
    words += tuple(text for entry in trace.ledger for text in (entry.label, entry.part, entry.mechanism, entry.reason))
    seed = trace.seed
    if not all(isinstance(text, str) for text in words) or not (seed is None or type(seed) is int):
        raise TypeError
    if record["notice"] != trace.notice:
        return "the notice does not match the promise and the seed"
    for promise, total, name in (
        (claimed, trace.plan.total, "promise does not follow from the plan"),
        (spent, partial(ledger_spent, trace.ledger), "sum that was spent does not follow from the ledger"),
    ):
        if not promise.private:
            continue
        if not _follows(promise, total(promise.delta)):
            return f"the {name}"
        if promise.rho_distance != trace.parameters.get("rho_distance"):
            return "the distance of the promise is not that of the parameters"
        if promise.rows_per_person != trace.domain.rows_per_person:
            return "the number of rows per person is not the declared one"
    if (claimed.notion, claimed.neighboring, claimed.trust) != (spent.notion, spent.neighboring, spent.trust):
        return "the spent budget differs in kind from the promise"
    return ""


def _follows(promise: Guarantee, total: Total) -> bool:
    """Return whether a guarantee equals the total of the costs at its delta."""

    def same(one: float | None, other: float | None) -> bool:
        return one == other or (one is not None and other is not None and math.isclose(one, other, rel_tol=1e-9))

    return all(
        same(getattr(promise, name), getattr(total, name))
        for name in ("epsilon", "delta", "mu", "pure_epsilon", "zcdp")
    )


def _strict(value: Any) -> Any:
    """Return a value that JSON can hold: NumPy numbers as Python's, infinities and NaN as {"number": "inf"}."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return {"number": str(value)}
    if isinstance(value, Mapping):
        return {key: _strict(item) for key, item in value.items()}
    if isinstance(value, tuple | list):
        return [_strict(item) for item in value]
    return value


def _number(record: dict[str, Any]) -> Any:
    """Return the value that one object of a JSON text stands for; this inverts `_strict`."""
    return float(record["number"]) if record.keys() == {"number"} else record


def _encode(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return {"dtype": value.dtype.str, "shape": list(value.shape), "values": value.ravel().tolist()}
    if isinstance(value, Mapping):
        return {"items": {key: _encode(item) for key, item in value.items()}}
    if isinstance(value, tuple | list):
        return {"list": [_encode(item) for item in value]}
    return value


def _decode(value: Any) -> Any:
    if not isinstance(value, dict):
        return value
    if "dtype" in value:
        return np.array(value["values"], dtype=np.dtype(value["dtype"])).reshape(value["shape"])
    if "items" in value:
        return {key: _decode(item) for key, item in value["items"].items()}
    return tuple(_decode(item) for item in value["list"])
