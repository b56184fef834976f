"""Define views, from which figures are drawn (a run and the choice of what to draw), and panels, the drawn figures."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go

from dpviz import escape
from dpviz.figures.kit.film import Film, PrintedFigure
from dpviz.figures.kit.theme import Theme
from dpviz.metrics import reference_name
from dpviz.numbers import number
from dpviz.postprocessing.span import Span, span_of
from dpviz.trace import Trace

__all__ = ["Panel", "View", "add_frames", "add_last", "moved", "thin", "xy"]

_SPOTS = 20  # maximum number of centers whose places are listed in a description; a table has them all
_NAME = 24  # maximum number of characters of a column's name in the title of a direction


@dataclasses.dataclass(frozen=True)
class View:
    """A run, and the choice of what to draw.

    Attributes
    ----------
    trace : Trace
    colors : Theme
    axes : numbers of the two drawn columns, or None to draw the two directions of `span`
    columns, units : names and units of the columns
    people : raw rows to draw (DEMO), original units, or None
    reference : centers of KMeans or KMedians (k, d), original units, or None
    losses : loss at every step, or None; reference_loss is the loss of the reference, or None
    hidden : True to draw the hidden layers, which show true values (NOT PRIVATE)
    missed : groups without a center (DEMO): their means (g, d) and radii per column (g, d) in original units, and
        numbers of rows (g,); or None
    noun : word for a row, such as "flower"
    picture : height and width of the pictures that replace the plane if the columns are a picture's cells, or None
    span : two directions that several runs share; None means the directions of this run's released centers
    """

    trace: Trace
    colors: Theme
    axes: tuple[int, int] | None
    columns: Sequence[str]
    units: Sequence[str]
    people: np.ndarray | None = None
    reference: np.ndarray | None = None
    losses: np.ndarray | None = None
    reference_loss: float | None = None
    hidden: bool = False
    missed: tuple[np.ndarray, np.ndarray, np.ndarray] | None = None
    noun: str = "person"
    picture: tuple[int, int] | None = None
    span: Span | None = None

    @functools.cached_property
    def directions(self) -> Span:
        """Return the directions to draw if no columns are chosen, and their range, from released centers alone."""
        of = f"{self.against}' centers" if self.trace.claimed.exact else "the released centers"
        return self.span or span_of(self.trace.domain, self.trace.cluster_centers, of)

    @property
    def against(self) -> str:
        """Return the name of the reference: KMeans or KMedians."""
        return reference_name(self.trace)

    @property
    def measure(self) -> str:
        """Return the name of the run's measure as a title begins with it: "Loss" or "k-median cost"."""
        return "k-median cost" if self.against == "KMedians" else "Loss"

    def plane(self, Z: np.ndarray) -> np.ndarray:
        """Map points (..., d) in z units to the drawn coordinates (..., 2) in original units."""
        return self.flat(self.trace.domain.denormalize(Z))

    def flat(self, X: np.ndarray) -> np.ndarray:
        """Map points (..., d) in original units to the drawn coordinates (..., 2)."""
        domain = self.trace.domain
        if domain.n_features == 1:
            return np.stack([X[..., 0], np.zeros(X.shape[:-1])], axis=-1)
        if self.axes is not None:
            return X[..., list(self.axes)]
        return self.directions.flat((X - domain.middle) / domain.half_width)

    def axis_titles(self) -> tuple[str, str]:
        """Return the titles of both axes with their units, escaped for Plotly."""
        if self.trace.domain.n_features == 1:
            return self._title(0), ""
        if self.axes is None:
            return self._direction(0), self._direction(1)
        return self._title(self.axes[0]), self._title(self.axes[1])

    def _title(self, column: int) -> str:
        unit = self.units[column]
        return escape.figure(f"{self.columns[column]} ({unit})" if unit else str(self.columns[column]))

    def _direction(self, i: int) -> str:
        column, most = self.directions.leading(i)
        name = str(self.columns[column])
        name = name if len(name) <= _NAME else f"{name[: _NAME - 1]}…"
        words = f"mostly {name}" if most else f"{name} and others"
        of = f" of {self.directions.of}" if i == 0 else ""  # said only once, because the vertical axis has little room
        return escape.figure(f"direction {i + 1}{of} ({words})")

    def placed(self, centers: np.ndarray, whose: str = "Centers") -> str:
        """Return where centers (k, d), original units, are drawn, in words for those who do not see the picture."""
        spots = self.flat(np.asarray(centers))[:, : self.trace.domain.n_features]
        if not len(spots):
            return ""
        columns = (0,) if self.trace.domain.n_features == 1 else self.axes
        names = ["direction 1", "direction 2"]
        if columns is not None:
            names = [f"{self.columns[i]}{f' in {self.units[i]}' if self.units[i] else ''}" for i in columns]
        words = [f"({', '.join(map(number, spot))})" for spot in spots[:_SPOTS]]
        more = f" and {len(spots) - _SPOTS} more" if len(spots) > _SPOTS else ""
        return f" {whose} at ({', '.join(names)}): {', '.join(words)}{more}."

    def bounds(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the public box (low, high) in drawn coordinates or, along directions, a range around the centers."""
        domain = self.trace.domain
        if domain.n_features == 1:
            return np.array([domain.low[0], -1.0]), np.array([domain.high[0], 1.0])
        if self.axes is not None:
            return domain.low[list(self.axes)], domain.high[list(self.axes)]
        # this run's centers may lie outside a span that it shares with other runs
        own = self.flat(np.asarray(self.trace.cluster_centers))
        low, high = np.array(self.directions.low), np.array(self.directions.high)
        return np.minimum(low, own.min(axis=0, initial=np.inf)), np.maximum(high, own.max(axis=0, initial=-np.inf))


@dataclasses.dataclass(frozen=True)
class Panel:
    """One figure of the player.

    Attributes
    ----------
    name : str, "plane", "side" or "wide": its place on the page
    figure : go.Figure; its data show the last frame, so that a page without scripts shows the result
    alt : str, a description for screen readers: the kind of the figure, and what its last picture shows

    Raises
    ------
    ValueError
        If a side panel is empty in one of its frames.
    """

    name: str
    figure: go.Figure | PrintedFigure
    alt: str

    def __post_init__(self) -> None:
        if self.name == "side" and isinstance(self.figure, Film) and (blank := self.figure.blank()):
            raise ValueError(
                f"Panel: a side panel must show something at every picture; {self.figure.layout.title.text!r} is empty "
                f"at {', '.join(blank)}: say when more comes (`layers.waiting`)."
            )

    def printed(self) -> Panel:
        """Return the panel with its figure as JSON, to be stored and sent."""
        return Panel(self.name, PrintedFigure.of(self.figure), self.alt)


def thin(n: int, most: int, seed: int = 0) -> np.ndarray:
    """Return sorted indices of at most `most` of n items, the same in every call."""
    return np.arange(n) if n <= most else np.sort(np.random.default_rng(seed).choice(n, most, replace=False))


def xy(points: np.ndarray) -> dict[str, Any]:
    """Return x and y as float32, or [None] if there are no points, because an empty list would leave the old marks."""
    if len(points) == 0:
        return {"x": [None], "y": [None]}
    x, y = np.asarray(points, dtype=np.float32).T
    return {"x": x.copy(), "y": y.copy()}


def moved(origins: np.ndarray, points: np.ndarray) -> dict[str, Any]:
    """Return x and y of points (m, 2) that were at `origins` (m, 2) in the previous frame; the stage animates the move.

    A point whose origin is NaN appears without a move.
    """
    return {**xy(points), "meta": {"from": xy(origins)}} if len(points) else xy(points)


def add_frames(
    figure: go.Figure,
    traces: list[int],
    per_frame: list[list[dict[str, Any]]],
    layouts: list[dict[str, Any]] | None = None,
) -> None:
    """Add frames named "0", "1", ... that change only the traces with these numbers; the last is the figure's data.

    `layouts` holds the axes of every frame, if they change. Equal frames get the same `group`, so that only changes are
    drawn again; `xy` without points hides a trace.

    Raises
    ------
    ValueError
        If there is no frame, or if a frame lacks the update of a trace.
    """
    if not per_frame:
        raise ValueError("add_frames: per_frame must have one frame for every picture of the player; got none.")
    wrong = [(i, len(updates)) for i, updates in enumerate(per_frame) if len(updates) != len(traces)]
    if wrong:
        raise ValueError(
            f"add_frames: every frame must update each of the {len(traces)} traces (xy(NOWHERE) empties one); "
            f"frame {wrong[0][0]} has {wrong[0][1]} updates."
        )
    kinds = [figure.data[index].type for index in traces]
    moving = layouts or [{}] * len(per_frame)
    groups: dict[Any, str] = {}
    figure.frames = [
        {
            "name": str(i),
            "group": groups.setdefault(_content([updates, layout]), str(i)),
            "traces": traces,
            "data": [{**update, "type": kind} for kind, update in zip(kinds, updates, strict=True)],
            "layout": layout or None,
        }
        for i, (updates, layout) in enumerate(zip(per_frame, moving, strict=True))
    ]
    for index, update in zip(traces, per_frame[-1], strict=True):
        figure.data[index].update(update)


def add_last(figure: go.Figure, looks: list[dict[str, Any]], last: list[dict[str, Any]]) -> None:
    """Add scatter traces that appear only in the last frame, with the styles `looks` and the contents `last`."""
    first, frames = len(figure.data), [frame.to_plotly_json() for frame in figure.frames]
    for look, update in zip(looks, last, strict=True):
        figure.add_scatter(**look, **update)
    nothing = [{"x": [None], "y": [None], "type": "scatter"}] * len(looks)
    for frame in frames:
        frame["traces"] = [*frame["traces"], *range(first, first + len(looks))]
        frame["data"] = [*frame["data"], *nothing]
    frames[-1]["data"][-len(looks) :] = [{**update, "type": "scatter"} for update in last]
    frames[-1]["group"] = "last"  # the last frame equals no other, because only it shows these traces
    figure.frames = frames


def _content(value: Any) -> Any:
    """Return a hashable value that is equal for equal contents."""
    if isinstance(value, np.ndarray):
        return value.tobytes()
    if isinstance(value, dict):
        return tuple((key, _content(item)) for key, item in value.items())
    return tuple(map(_content, value)) if isinstance(value, list) else value
