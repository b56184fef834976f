"""Offer the private algorithms as a scikit-learn estimator, with warnings where scikit-learn's tools reveal rows."""

from __future__ import annotations

import dataclasses
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, ClusterMixin, TransformerMixin
from sklearn.metrics import pairwise_distances, pairwise_distances_argmin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from dpviz import validate
from dpviz.algorithms import ALGORITHMS, RECOMMENDED, outside
from dpviz.datasets.loading import present
from dpviz.domain import Domain
from dpviz.metrics import reference_name
from dpviz.numbers import log_unit
from dpviz.postprocessing.at_bound import bounds_sentence
from dpviz.postprocessing.regions import has_regions, labels_of
from dpviz.privacy.accounts import Accounts, Claim
from dpviz.privacy.delta import check_delta

__all__ = ["NoiseWarning", "PrivacyLeakWarning", "PrivateKMeans"]

_FLOATS = [np.float64, np.float32]
_spoken: set[str] = set()  # warnings already given in this process, because a search makes dozens of fits and scores


class NoiseWarning(UserWarning):
    """A warning that noise probably decides the result, or that released values contradict or strain public facts."""


class PrivacyLeakWarning(UserWarning):
    """A warning that no promise covers a use of the rows: for a public fact, a score, another fit or a simulation."""


class PrivateKMeans(ClassNamePrefixFeaturesOutMixin, TransformerMixin, ClusterMixin, BaseEstimator):
    """K-means with differential privacy, following scikit-learn's conventions.

    `fit` spends the whole budget every time: in a grid search or a cross-validation each fit is a separate release. A
    secure fit books its plan on the account of the file that the rows come from before its first draw, as `dpviz run
    --private` and the app do, and keeps it booked if it fails later. `score`, `labels_` and `predict` read the rows
    they are given, so their results are NOT private. The first score, the second secure fit and the first fit that did
    not choose `secure` in a process issue a `PrivacyLeakWarning`. If the algorithm expects noise to decide the result,
    or released values contradict the declared facts, `fit` issues a `NoiseWarning`.

    The promise covers a pipeline only if each step before this one turns every row into a row by public constants, as
    a `FunctionTransformer` or the file's own reading does. A step that is fitted, such as a `StandardScaler`, reads the
    rows exactly: its means and scales are NOT private, and neither are centers of rows that it scaled.

    Parameters
    ----------
    n_clusters : int, number of centers k; DPM, DP-DBSCAN, EM-MC and LSH-Splits may return another number
    algorithm : str, a slug of `dpviz.algorithms.ALGORITHMS`
    epsilon, delta : float, the budget of one fit; if delta is None, it is 1/(100 n_public)
    bounds : PUBLIC bounds of the columns: a dict or DataFrame with a pair (low, high) for each column of a DataFrame
        X, or one pair (low, high) of numbers or of arrays of shape (d,). If None, they are computed from the rows, with
        a `PrivacyLeakWarning`
    scale : "column" or "common"; see `dpviz.domain.Domain`
    logs : PUBLIC columns that are clustered as ln(1 + value), such as amounts of money: names in a DataFrame X, else
        numbers from 0. Their lower bounds are 0 or more, and a value below its bound is raised to it. Centers are back
        in the column's units, where they are typical values (about geometric means), not averages
    weights : PUBLIC dict of how much distances in a column count, from 0.001 to 1000, by name or number; the others
        count 1
    n_public : int or None, the PUBLIC nominal number of rows. If None, the rows are counted, with a
        `PrivacyLeakWarning`
    rows_per_person : int, the PUBLIC maximum number of rows that one person contributes
    secure : bool, whether a fit is a real release, whose noise has no seed; if False, it is a simulation, which
        `random_state` can repeat; if None, it is a simulation with a `PrivacyLeakWarning`
    account : path of the file that the rows come from, byte for byte, whose account books a secure fit; or "none" to
        book nothing. dpviz cannot check that the rows are the file's
    random_state : int, RandomState or None, for simulations only
    parameters : dict or None, further parameters of the algorithm
    public_rows : rows (m, d) that you declare PUBLIC, with the columns of X and inside the bounds, or None; only for
        algorithm="public-start", which takes its first centers from them. Nothing checks that they are public, and
        the promise does not cover them
    unaudited : bool, whether a secure fit may use an algorithm from outside that `dpviz audit` has not passed here

    Attributes
    ----------
    cluster_centers_ : ndarray of shape (k', d), original units; released
    trace_ : Trace, the record of every step, every release and the promise
    labels_ : ndarray of shape (n,), nearest center of every row; NOT private, simulations only
    inertia_ : float, sum of squared distances to the nearest center, original units; NOT private, simulations only
    n_features_in_, feature_names_in_ : as in scikit-learn

    Examples
    --------
    >>> import numpy as np
    >>> X = np.repeat([[-0.5, 0.0], [0.5, 0.0]], 500, axis=0)
    >>> model = PrivateKMeans(2, epsilon=2.0, bounds=(-1, 1), n_public=1000, secure=False, random_state=0).fit(X)
    >>> sorted(model.cluster_centers_[:, 0].round(1).tolist())
    [-0.5, 0.5]
    """

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        algorithm: str = RECOMMENDED,
        epsilon: float = 1.0,
        delta: float | None = None,
        bounds: Any = None,
        scale: str = "column",
        logs: Sequence[str | int] = (),
        weights: Mapping[str | int, float] | None = None,
        n_public: int | None = None,
        rows_per_person: int = 1,
        secure: bool | None = None,
        account: str | Path | None = None,
        random_state: Any = None,
        parameters: dict[str, Any] | None = None,
        public_rows: Any = None,
        unaudited: bool = False,
    ) -> None:
        self.n_clusters = n_clusters
        self.algorithm = algorithm
        self.epsilon = epsilon
        self.delta = delta
        self.bounds = bounds
        self.scale = scale
        self.logs = logs
        self.weights = weights
        self.n_public = n_public
        self.rows_per_person = rows_per_person
        self.secure = secure
        self.account = account
        self.random_state = random_state
        self.parameters = parameters
        self.public_rows = public_rows
        self.unaudited = unaudited

    def fit(self, X: Any, y: Any = None) -> Self:
        """Release centers of the rows X (n, d), which spends epsilon.

        Raises
        ------
        ValueError
            If the columns are not those of the bounds, a parameter is out of range, or a secure release has a seed,
            lacks bounds, n_public or an account, or uses an unaudited algorithm from outside without `unaudited`.
        TypeError
            If the rows of a secure release are not numbers by their type.
        Refused
            If a total that the owner set does not cover the fit, or the file was declared public; nothing is drawn.
        OSError
            If the file or the accounts cannot be used; nothing is drawn.

        Warns
        -----
        NoiseWarning
            If the algorithm's `advice` or the released values show that the centers are of little use, or if a center
            lies at a bound.
        PrivacyLeakWarning
            If public facts are read off the rows, and once per process for a second secure fit or for a fit that did
            not choose `secure`.
        """
        file = self._booked_on()
        X = self._valid(X)
        domain = self._domain(X)
        check_delta("PrivateKMeans", self.delta, domain.n_public or len(X), private=bool(self.secure))
        algorithm = self._algorithm()
        if self.public_rows is not None:
            algorithm = algorithm.with_public_rows(domain.with_logs(self._public_rows(domain)), domain)
        most, name = (domain.n_public or 1, "n_public") if self.secure else (len(X), "n_samples")
        if self.n_clusters > most:
            raise ValueError(f"PrivateKMeans: {name}={most} should be >= n_clusters={self.n_clusters}.")
        algorithm.check_domain(domain, most)
        seed = None if self.secure else _seed(self.random_state)
        if self.secure:
            _count_fit()
        elif self.secure is None:
            _once("a simulation, not a release; give secure=True for private rows, or secure=False for this.")
        for sentence in algorithm.advice(domain.n_features, domain.n_public or len(X)):
            warnings.warn(sentence, NoiseWarning, stacklevel=2)
        if file is not None:  # after all that can refuse the fit, and before its first draw
            accounts = Accounts.open()
            accounts.reserve(accounts.key_of(file), Claim.of(algorithm, domain))
        self.trace_ = algorithm.run(
            domain.with_logs(X), domain=domain, seed=seed, noise="secure" if self.secure else "seeded"
        )
        names = domain.columns or tuple(getattr(self, "feature_names_in_", map(domain.name, range(domain.n_features))))
        at_bound = bounds_sentence(self.trace_, names, domain.units)
        for sentence in (*self.trace_.warnings, *[f"PrivateKMeans: {at_bound}"] * bool(at_bound)):
            warnings.warn(sentence, NoiseWarning, stacklevel=2)
        self.domain_ = domain
        self.cluster_centers_ = domain.without_logs(np.array(self.trace_.cluster_centers))
        self._n_features_out = len(self.cluster_centers_)
        if self.secure:  # a released model may be shipped, so it contains nothing that was read from the rows
            for earlier in ("labels_", "inertia_"):
                self.__dict__.pop(earlier, None)
            return self
        self.labels_ = self._clusters(X)
        distances = X - self.cluster_centers_[self.labels_]
        self.inertia_ = np.nan if algorithm.regions else float((distances**2).sum())
        return self

    def fit_predict(self, X: Any, y: Any = None, **kwargs: Any) -> np.ndarray:
        """Release centers of the rows X (n, d) and return the cluster of each row, shape (n,), which is NOT private."""
        return self.fit(X, y)._clusters(self._valid(X, reset=False))

    def predict(self, X: Any) -> np.ndarray:
        """Return the index (n,) of the center nearest to each row of X (n, d), in original units. NOT private.

        An algorithm that finds regions gives the row's region instead, or -1 outside all regions.
        """
        check_is_fitted(self)
        return self._clusters(validate_data(self, X, reset=False, dtype=_FLOATS))

    def transform(self, X: Any) -> np.ndarray:
        """Return the distances of the rows X (n, d) to every center, in z units, shape (n, k'). NOT private."""
        return pairwise_distances(*self._z(X))

    def score(self, X: Any, y: Any = None) -> float:
        """Return the negative sum of the rows' squared distances to their nearest centers, in z units. NOT private.

        Distances are not squared if the objective is "medians". The first call in a process issues a
        `PrivacyLeakWarning`: a choice based on scores depends on the rows in a way that the promise does not cover.

        Raises
        ------
        ValueError
            If the algorithm finds regions, because distances to the middles of regions are meaningless.
        """
        if ALGORITHMS[self.algorithm].regions:
            raise ValueError(
                f"PrivateKMeans: {self.algorithm} gives regions, which cannot be scored by distances to centers."
            )
        _once("score reads the rows exactly: a parameter or model chosen by it is NOT PRIVATE.")
        nearest = self.transform(X).min(axis=1)
        return -float((nearest if reference_name(self.trace_) == "KMedians" else nearest**2).sum())

    def _clusters(self, X: np.ndarray) -> np.ndarray:
        """Return the cluster of every row; it is -1 for rows that are not finite, which only a secure fit accepts."""
        if has_regions(self.trace_):
            return labels_of(self.trace_, self.domain_.with_logs(X)).astype(np.int32)
        labels, finite = np.full(len(X), -1, dtype=np.int32), np.isfinite(X).all(axis=1)
        if finite.any():
            centers = self.domain_.normalize(self.trace_.cluster_centers)
            rows = self.domain_.normalize(self.domain_.with_logs(X[finite]))
            labels[finite] = pairwise_distances_argmin(rows, centers)
        return labels

    def _z(self, X: Any) -> tuple[np.ndarray, np.ndarray]:
        check_is_fitted(self)
        X = validate_data(self, X, reset=False, dtype=_FLOATS)
        rows = self.domain_.with_logs(X)
        return self.domain_.normalize(rows), self.domain_.normalize(self.trace_.cluster_centers)

    def _valid(self, X: Any, *, reset: bool = True) -> np.ndarray:
        """Return the rows of a fit as an array; in a secure fit, no row and no number of rows may cause an error."""
        rules = {"ensure_all_finite": False, "ensure_min_samples": 0} if self.secure else {"ensure_min_samples": 2}
        if self.secure and not _are_numbers(X):
            raise TypeError(
                "PrivateKMeans: the rows of a secure fit must be numbers by their type; turn text into numbers first, "
                "as with pandas.to_numeric(column, errors='coerce'). Nothing was spent."
            )
        return validate_data(self, X, reset=reset, dtype=_FLOATS, **rules)

    def _booked_on(self) -> Path | None:
        """Return the file whose account books this fit, or None if none does.

        Raises
        ------
        ValueError
            If the parameters, without a look at the rows, rule the fit out, or if it does not say what books it.
        """
        validate.one_of("PrivateKMeans", (True, False, None), secure=self.secure)
        validate.one_of("PrivateKMeans", tuple(ALGORITHMS), algorithm=self.algorithm)
        if self.account is not None and self.secure is None:
            raise ValueError(
                "PrivateKMeans: an account is given but secure is not; give secure=True for a release, or secure=False "
                "for a simulation, which books nothing. Nothing was spent."
            )
        if not self.secure:
            return None
        if self.random_state is not None:
            raise ValueError(
                "PrivateKMeans: random_state must be None for a secure release; a known seed undoes the noise."
            )
        if self.bounds is None or self.n_public is None:
            raise ValueError("PrivateKMeans: a secure release needs public bounds and n_public; nothing was spent.")
        if not ALGORITHMS[self.algorithm].notion.private:
            raise ValueError(
                f"PrivateKMeans: {self.algorithm} promises nothing, so it makes no secure release; nothing was read."
            )
        whose = outside.warning(self.algorithm)
        if whose and not self.unaudited:
            raise ValueError(
                f"PrivateKMeans: {whose}. Run its audit first (dpviz audit {self.algorithm}), or set unaudited=True; "
                "nothing was read."
            )
        if self.account is None:
            raise ValueError(
                "PrivateKMeans: a secure fit needs account=FILE, the file that the rows come from, which books what it "
                'spends, or account="none" to book nothing; nothing was spent.'
            )
        if not isinstance(self.account, str | Path):
            raise ValueError(
                f'PrivateKMeans: account must be the path of a file or "none"; got {type(self.account).__name__}. '
                "Nothing was spent."
            )
        return None if self.account == "none" else present(Path(self.account))

    def _low_high(self, n_features: int) -> tuple[Any, Any]:
        """Return the declared bounds as (low, high), each a number or of shape (d,)."""
        bounds = self.bounds
        if hasattr(bounds, "to_dict"):  # a DataFrame with a column of two rows, low and high, for each feature
            bounds = {name: tuple(pair.values()) for name, pair in bounds.to_dict().items()}
        if isinstance(bounds, Mapping):
            names = [str(name) for name in getattr(self, "feature_names_in_", ())]
            if set(bounds) != set(names):
                known = f"the columns {', '.join(names)}" if names else "a DataFrame, because the rows have no names"
                raise ValueError(f"PrivateKMeans: bounds by name must have one pair for each column; X has {known}.")
            bounds = [[bounds[name][end] for name in names] for end in (0, 1)]
        try:
            low, high = bounds
        except (TypeError, ValueError):
            raise ValueError(
                f"PrivateKMeans: bounds must be a pair (low, high) of numbers or arrays; got {self.bounds!r}."
            ) from None
        if bounds is self.bounds and n_features == 2 and _are_pairs_too(low, high):
            raise ValueError(
                "PrivateKMeans: two pairs for two columns may be a pair for each column, or all low and all high "
                "bounds; give a dict, such as {'age': (18, 95), 'visits': (0, 50)}, and the rows as a DataFrame, or "
                "two arrays (np.array(low), np.array(high))."
            )
        return low, high

    def _algorithm(self) -> Any:
        cls = ALGORITHMS[self.algorithm]
        fields = {field.name for field in dataclasses.fields(cls)}
        own: dict[str, Any] = {"n_clusters": self.n_clusters, "epsilon": self.epsilon, "delta": self.delta}
        further, known = dict(self.parameters or {}), sorted(fields - set(own))
        wrong = sorted(set(further) - set(known))
        if wrong:
            raise ValueError(f"PrivateKMeans: {cls.name} has no further parameter {wrong[0]!r}; it has {known}.")
        given = {name: value for name, value in own.items() if name in fields} | further
        # a search gives numbers of NumPy, which a claim and a trace cannot write as JSON
        return cls(**{name: value.item() if isinstance(value, np.generic) else value for name, value in given.items()})

    def _public_rows(self, domain: Domain) -> np.ndarray:
        """Return the public rows (m, d) in the columns' units and order."""
        rows: Any = self.public_rows
        if domain.columns and hasattr(rows, "columns"):
            if lacking := [name for name in domain.columns if name not in set(map(str, rows.columns))]:
                raise ValueError(
                    f"PrivateKMeans: public_rows lack the column {lacking[0]!r}; they must have the columns of X."
                )
            rows = rows[list(domain.columns)]
        return validate.finite_matrix("PrivateKMeans, public_rows", rows, n_features=domain.n_features)

    def _domain(self, X: np.ndarray) -> Domain:
        """Return the public facts; missing ones are read off the rows, with a warning."""
        n_public = self.n_public
        if n_public is None:
            _leak("n_public is not given: the exact number of rows is used as if it were public.")
            n_public = len(X)
        declared: dict[str, Any] = {
            "scale": self.scale,
            "n_public": n_public,
            "rows_per_person": self.rows_per_person,
            "columns": getattr(self, "feature_names_in_", ()),
        }
        names = [str(name) for name in getattr(self, "feature_names_in_", range(X.shape[1]))]
        logs, weights = [str(name) for name in self.logs], {str(name): w for name, w in (self.weights or {}).items()}
        for what, given in (("logs", logs), ("weights", list(weights))):
            if wrong := next((name for name in given if name not in names), None):
                raise ValueError(f"PrivateKMeans: {what} names {wrong!r}; the columns are {', '.join(names[:8])}.")
        declared["weights"] = [weights.get(name, 1.0) for name in names]
        if logs:
            declared["units"] = [log_unit("") if name in logs else "" for name in names]
        if self.bounds is not None:
            low, high = self._low_high(X.shape[1])
            return Domain.box(*_log_ends(low, high, [name in logs for name in names]), X.shape[1], **declared)
        _leak("bounds are not given: the smallest and largest values are read off the rows, which is NOT PRIVATE.")
        low, high = X.min(axis=0).astype(float), X.max(axis=0).astype(float)
        high = np.where(high > low, high, low + np.maximum(np.abs(low), 1.0))  # if all values are equal, add a width
        domain = Domain.box(*_log_ends(low, high, [name in logs for name in names]), **declared)
        return dataclasses.replace(domain, origin="bounds taken from the data: NOT PRIVATE")


def _log_ends(low: Any, high: Any, logs: list[bool]) -> tuple[Any, Any]:
    """Return bounds with the logarithms of those of the columns in `logs`; others as they are."""
    if not any(logs):
        return low, high
    ends = np.array([np.broadcast_to(np.asarray(end, dtype=float).reshape(-1), (len(logs),)) for end in (low, high)])
    if (ends[0, logs] < 0).any():
        raise ValueError("PrivateKMeans: a column in logs needs a lower bound of 0 or more.")
    ends[:, logs] = np.log1p(ends[:, logs])
    return ends[0], ends[1]


def _are_pairs_too(low: Any, high: Any) -> bool:
    """Return whether low and high bounds of two columns could as well be a pair (low, high) for each of them."""
    if not all(isinstance(end, list | tuple) and len(end) == 2 for end in (low, high)):
        return False
    return bool(low[0] < low[1] and high[0] < high[1] and low[0] < high[0] and low[1] < high[1])


def _are_numbers(X: Any) -> bool:
    """Return whether all cells are numbers by the type of their column; no cell is looked at.

    If text were turned into numbers here, one row's cell could cause an error, which would quote the cell, too.
    """
    kinds = [dtype.kind for dtype in X.dtypes] if hasattr(X, "iloc") else [np.asarray(X).dtype.kind]
    return set(kinds) <= set("biuf")


def _leak(sentence: str) -> None:
    warnings.warn(f"PrivateKMeans: {sentence}", PrivacyLeakWarning, stacklevel=4)


def _once(sentence: str) -> None:
    """Issue a `PrivacyLeakWarning` with this sentence, once per process."""
    if sentence not in _spoken:
        _spoken.add(sentence)
        warnings.warn(f"PrivateKMeans: {sentence}", PrivacyLeakWarning, stacklevel=3)


def _count_fit() -> None:
    """Warn at the second secure fit in a process, because the budgets add up."""
    if "fit" in _spoken:
        _once(
            "this is not the first secure fit of this process. Each fit spends its whole epsilon; fits on the same "
            "rows, as in a grid search or a cross-validation, add up."
        )
    _spoken.add("fit")


def _seed(random_state: Any) -> int:
    """Return a seed for the run, drawn from the generator in the same way as in scikit-learn's estimators."""
    if isinstance(random_state, int | np.integer):
        return int(random_state)
    return int(check_random_state(random_state).randint(2**31))
