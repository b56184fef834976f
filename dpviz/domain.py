"""Declare the PUBLIC facts about a data set: bounds, weights, clipping radius, nominal size, unit of privacy."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from dpviz import numbers, validate

__all__ = ["LIGHTEST", "Domain"]

# more than the rounding error of a norm in float64 for any d below 2^12, so that no row exceeds the radius
_SLACK = 2.0**-40
_ROWS = 1024
_SINGLE = 2.0**-23
# limits of a half-width and of a bound, so that squares stay finite in z units and in data units
_LEAST, _LARGEST = 1e-30, 1e30
# smallest ratio of a half-width to the magnitude of the bounds; below it, rows would differ only by rounding
_FINEST = 2.0**-40
_MOST_ROWS, _MOST_PER_PERSON = 10**12, 10**6
LIGHTEST = 1e-3  # smallest weight of a column; its inverse is the largest


@dataclasses.dataclass(frozen=True, eq=False)
class Domain:
    """Public facts and the normalization they define: z = (x - middle) / half_width.

    Attributes
    ----------
    low, high : ndarray of shape (d,), original units
    scale : "column" divides every column by its own half-width; "common" divides all columns by the largest half-width,
        which keeps the ratios of distances
    radius : float, l2 bound on z; rows are clipped to the box, then to this ball
    n_public : int or None, the DECLARED nominal number of rows; never read from the data under add/remove
    rows_per_person : int, maximum number of rows that one person contributes
    origin : "declared", or a warning that the facts were taken from the data
    columns, units : names and units of the columns, public; () if undeclared. If declared, the columns of a data frame
        are found by name
    closed : indices of the columns that no value can leave, because a rule makes them from declared words or they are a
        picture's cells; public
    weights : how much distances in each column count, relative to the others; public; () if all count the same. The
        column with the widest bounds in weighted units has the half-width 1, and the others have less
    """

    low: np.ndarray
    high: np.ndarray
    scale: str
    radius: float
    n_public: int | None = None
    rows_per_person: int = 1
    origin: str = "declared"
    columns: tuple[str, ...] = ()
    units: tuple[str, ...] = ()
    closed: tuple[int, ...] = ()
    weights: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        owner = "Domain"
        low = np.array(self.low, dtype=np.float64).reshape(-1)
        high = np.array(self.high, dtype=np.float64).reshape(-1)
        if low.shape != high.shape or low.size == 0:
            raise ValueError(
                f"{owner}: low and high must name the same, nonzero number of columns; got {low.size} and {high.size}."
            )
        for place, (a, b) in enumerate(zip(low, high, strict=True)):
            column = repr(self.columns[place]) if place < len(self.columns) else place + 1
            if not (np.isfinite(a) and np.isfinite(b) and a < b):
                raise ValueError(f"{owner}: column {column} must have finite bounds with low < high; got {a} and {b}.")
            if max(abs(a), abs(b)) > _LARGEST or (b - a) / 2 < max(_LEAST, _FINEST * max(abs(a), abs(b))):
                raise ValueError(
                    f"{owner}: column {column} must have bounds within {_LARGEST:g} that differ by more "
                    f"than rounding; got {a:g} and {b:g}."
                )
        validate.one_of(owner, ("column", "common"), scale=self.scale)
        validate.positive(owner, radius=self.radius)
        validate.in_range(owner, _LEAST, _LARGEST, radius=self.radius)
        validate.integer(owner, 1, _MOST_PER_PERSON, rows_per_person=self.rows_per_person)
        if self.n_public is not None:
            validate.integer(owner, 1, _MOST_ROWS, n_public=self.n_public)
            object.__setattr__(self, "n_public", int(self.n_public))
        object.__setattr__(self, "rows_per_person", int(self.rows_per_person))
        object.__setattr__(self, "radius", float(self.radius))
        for name in ("columns", "units"):
            words = tuple(map(str, getattr(self, name)))
            if words and len(words) != low.size:
                raise ValueError(f"{owner}: {name} must name all {low.size} columns; got {len(words)}.")
            object.__setattr__(self, name, words)
        closed = tuple(map(int, self.closed))
        if not set(closed) <= set(range(low.size)):
            raise ValueError(f"{owner}: closed must hold indices of the {low.size} columns; got {closed}.")
        object.__setattr__(self, "closed", closed)
        weights = tuple(map(float, self.weights))
        if weights and len(weights) != low.size:
            raise ValueError(f"{owner}: weights must name all {low.size} columns; got {len(weights)}.")
        for weight in weights:
            validate.in_range(owner, LIGHTEST, 1 / LIGHTEST, weight=weight)
        object.__setattr__(self, "weights", () if len(set(weights)) <= 1 else weights)
        for array in (low, high):
            array.setflags(write=False)
        object.__setattr__(self, "low", low)
        object.__setattr__(self, "high", high)

    @classmethod
    def box(
        cls,
        low: float | np.ndarray,
        high: float | np.ndarray,
        n_features: int | None = None,
        *,
        scale: str = "column",
        radius: float | None = None,
        n_public: int | None = None,
        rows_per_person: int = 1,
        columns: Sequence[str] = (),
        units: Sequence[str] = (),
        weights: Sequence[float] = (),
    ) -> Domain:
        """Declare a box from two numbers and `n_features`, or from two arrays with one bound per column.

        The default radius reaches the corner of the normalized box (sqrt(d) for scale="column" without weights), so the
        ball contains the box and clips nothing more.

        Raises
        ------
        ValueError
            If sizes do not match, a bound is not finite, or a lower bound is not below the upper one.
        """
        arrays = [np.asarray(bound, dtype=np.float64) for bound in (low, high)]
        if n_features is not None:
            validate.integer("Domain", 1, None, n_features=n_features)
        elif all(array.ndim == 0 for array in arrays):
            raise ValueError("Domain: n_features must be given when low and high are numbers.")
        size = max(array.size for array in arrays) if n_features is None else n_features
        if any(array.size not in (1, size) for array in arrays):
            raise ValueError(
                f"Domain: low and high must have 1 or {size} values; got {arrays[0].size} and {arrays[1].size}."
            )
        lows, highs = (np.broadcast_to(array.reshape(-1), (size,)) for array in arrays)
        # may raise an error that names a column
        sane = cls(
            lows, highs, scale, 1.0, n_public, rows_per_person, columns=tuple(columns), weights=tuple(weights)
        )  # fmt: skip
        widest = float(np.linalg.norm(sane.box_z)) * (1 + _SLACK)
        reach = widest if radius is None else radius
        return dataclasses.replace(sane, radius=reach, units=tuple(units))

    @classmethod
    def tight_nonprivate(cls, X: np.ndarray, *, loose: float = 1.0) -> Domain:
        """Return a domain read off the rows: NOT PRIVATE, FOR BENCHMARKS ONLY.

        The box is centered at the column means, and its half-width is `loose` times the largest norm of a centered row.
        The radius is 1, and n_public is len(X).
        """
        X = validate.finite_matrix("Domain", X)
        center = X.mean(axis=0)
        reach = loose * (float(np.linalg.norm(X - center, axis=1).max()) or 1.0)
        return cls(
            center - reach, center + reach, "common", 1.0, len(X), origin="tight_nonprivate: taken from the data"
        )

    @property
    def n_features(self) -> int:
        """Return the number of columns d."""
        return self.low.size

    @property
    def middle(self) -> np.ndarray:
        """Return the center of the box in original units, shape (d,)."""
        return (self.low + self.high) / 2

    @property
    def half_width(self) -> np.ndarray:
        """Return the length of one z unit in original units for each column, shape (d,)."""
        half = (self.high - self.low) / 2
        if not self.weights:
            return half if self.scale == "column" else np.full(self.n_features, half.max())
        weights = np.array(self.weights)
        return half * (weights.max() / weights) if self.scale == "column" else (half * weights).max() / weights

    @property
    def one_scale(self) -> bool:
        """Return whether all columns share one scale, so that distances in z units are those of the data, rescaled."""
        return self.scale == "common" and not self.weights

    @property
    def logs(self) -> np.ndarray:
        """Return which columns hold ln(1 + value) by their unit, shape (d,)."""
        return np.array([numbers.unlogged(unit) is not None for unit in self.units or ("",) * self.n_features])

    def with_logs(self, X: np.ndarray) -> np.ndarray:
        """Return rows (n, d), file units, with ln(1 + value) in the columns of logarithms.

        Each cell is read by itself. Below the bound, where there may be no logarithm, a straight line goes on, so a
        value outside the bounds stays outside; a cell that is not finite stays so, without a warning.
        """
        if not self.logs.any():
            return X
        X = np.array(X, dtype=np.float64)
        with np.errstate(all="ignore"):  # a warning would tell of a row
            raised = np.maximum(X[:, self.logs], np.expm1(self.low[self.logs]))
            X[:, self.logs] = np.log1p(raised) - (raised - X[:, self.logs])
        return X

    def without_logs(self, points: np.ndarray) -> np.ndarray:
        """Return points (k, d) with the values themselves in the columns of logarithms."""
        return np.where(self.logs, np.expm1(np.where(self.logs, points, 0.0)), points)

    @property
    def box_z(self) -> np.ndarray:
        """Return the half-widths of the box in z units, shape (d,); all ones for scale="column" without weights."""
        return np.minimum((self.high - self.low) / 2 / self.half_width, 1.0)  # the division may round up

    @property
    def diameter(self) -> float:
        """Return a bound on the l2 distance between two clipped rows, in z units."""
        return 2 * min(self.radius, float(np.linalg.norm(self.box_z)) * (1 + _SLACK))

    def normalize(self, X: np.ndarray) -> np.ndarray:
        """Map rows (n, d) from original units to z units, without clipping.

        Raises
        ------
        ValueError
            If X is a data frame whose columns are not the declared ones; their order does not matter.
        """
        X = validate.finite_matrix("Domain", self._by_name(X), n_features=self.n_features)
        Z = X - self.middle
        Z /= self.half_width
        return Z

    def outside(self, X: np.ndarray) -> np.ndarray:
        """Return which rows (n, d), original units, have a value beyond a bound, shape (n,); NaN is beyond none.

        A value that exceeds a bound by less than the rounding error of single precision does not count, because the
        numbers of large files are stored in it.
        """
        X = validate.finite_matrix("Domain", self._by_name(X), n_features=self.n_features)
        slack = _SINGLE * np.maximum(np.abs(self.low), np.abs(self.high))
        return ((X < self.low - slack) | (X > self.high + slack)).any(axis=1)

    def _by_name(self, X: Any) -> Any:
        """Return the columns of a data frame in the declared order; return other data unchanged."""
        names = [str(name) for name in getattr(X, "columns", ())]
        if not self.columns or not names or names == list(self.columns):
            return X
        missing = [name for name in self.columns if name not in names]
        extra = [name for name in names if name not in self.columns]
        if missing or extra:
            wrong = f"{missing[0]!r} is missing" if missing else f"{extra[0]!r} is not declared"
            raise ValueError(f"Domain: the data must have the declared columns, in any order; column {wrong}.")
        return X[list(self.columns)]

    def denormalize(self, Z: np.ndarray) -> np.ndarray:
        """Map points (..., d) from z units to original units."""
        return np.asarray(Z) * self.half_width + self.middle

    def inside(self, Z: np.ndarray) -> np.ndarray:
        """Project points (n, d) in z units onto the box and the ball; return them in original units, within the bounds.

        Both sets are convex and contain every clipped row, so the projection moves no point farther from any of these
        rows.
        """
        return np.clip(self.denormalize(self.clip(np.asarray(Z))), self.low, self.high)

    def clip(self, Z: np.ndarray) -> np.ndarray:
        """Return the rows (n, d) clipped to the box, then to the ball, each one independently of the others."""
        clipped = np.clip(Z, -self.box_z, self.box_z)
        squares = np.zeros(len(clipped))
        for start in range(0, len(clipped), _ROWS):  # each block of rows fits in the cache
            for column in clipped[start : start + _ROWS].T:  # a fixed order keeps a row's bits the same in any block
                squares[start : start + _ROWS] += column * column
        norms = np.sqrt(squares)
        reach = self.radius * (1 - _SLACK / 2)
        if (norms > reach).any():
            clipped *= np.where(norms > reach, reach / np.maximum(norms, reach), 1.0)[:, None]
        return clipped

    def name(self, column: int) -> str:
        """Return the name of a column, or a name such as "column 2" if none is declared."""
        return self.columns[column] if self.columns else f"column {column + 1}"

    def place(self, column: int, z: float) -> str:
        """Return a coordinate as text in original units, with the column's unit if one is declared."""
        value = z * self.half_width[column] + self.middle[column]
        unit = self.units[column] if self.units else ""
        return f"{numbers.place(value, float(self.high[column] - self.low[column]))} {unit}".rstrip()

    def length(self, z: float, digits: int = 3) -> str:
        """Return a length, given in z units, as text for readers, with at most `digits` significant digits.

        If all columns share one scale and one unit, the length is in that unit (meters below a kilometer), or in
        "units" if no unit is declared. Otherwise the length is in z units, that is, a share of the bounds' half-width.
        """
        half = self.half_width
        if (half != half[0]).any() or len(set(self.units)) > 1:
            whose = "the bounds' half-width" if not self.weights else "the half-width of the heaviest column's bounds"
            return f"{numbers.number(z, digits)} of {whose}"
        unit = self.units[0] if self.units and self.units[0] else "units"
        return numbers.length(z * float(half[0]), unit, digits)

    def to_dict(self) -> dict[str, Any]:
        """Return a JSON-ready mapping, without empty `closed` and `weights`, as in files of earlier versions."""
        record = dataclasses.asdict(self)
        record |= {name: getattr(self, name).tolist() for name in ("low", "high")}
        record |= {name: list(record[name]) for name in ("columns", "units", "closed", "weights")}
        return {name: value for name, value in record.items() if value or name not in ("closed", "weights")}

    @classmethod
    def from_dict(cls, record: Mapping[str, Any]) -> Domain:
        """Rebuild a domain from the mapping of `to_dict`."""
        return cls(**record)

    @property
    def key(self) -> tuple[Any, ...]:
        """Return a hashable identity for caches."""
        facts = self.scale, self.radius, self.n_public, self.rows_per_person, self.weights
        return tuple(self.low), tuple(self.high), *facts
