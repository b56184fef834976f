"""Build figures quickly: frames stay plain dicts while a figure is built, and a finished figure is stored as JSON."""

from __future__ import annotations

import json
import types
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import plotly.graph_objects as go
from plotly.basedatatypes import BaseFigure

__all__ = ["Film", "PrintedFigure", "told"]


class Film(go.Figure):
    """A `go.Figure` that does not validate its frames, and converts them into `go.Frame`s only on access.

    Validating every frame would take half of the time needed to build a player. Data and layout are validated as usual;
    so is the last frame, because it is the figure's own data (`view.add_frames`).
    """

    @property
    def frames(self) -> tuple[go.Frame, ...]:
        """Return the frames as validated `go.Frame`s."""
        return tuple(go.Frame(frame._props) for frame in self._frame_objs)

    @frames.setter
    def frames(self, frames: Iterable[Mapping[str, Any]]) -> None:
        """Store the frames as plain dicts with name, group, traces, data and, if axes move, layout."""
        self._frame_objs = tuple(types.SimpleNamespace(_props=_ordered(frame)) for frame in frames)

    def blank(self) -> list[str]:
        """Return the names of the frames that show neither marks nor words nor shapes."""
        data = [trace._props for trace in self.data]
        frames = [frame._props for frame in self._frame_objs]
        still = set(range(len(data))).difference(*(frame["traces"] for frame in frames))
        if self.layout.shapes or any(_shows(data[i]) for i in still):
            return []
        return [
            frame["name"]
            for frame in frames
            if not any(_shows(data[i] | update) for i, update in zip(frame["traces"], frame["data"], strict=True))
        ]


def _shows(trace: Mapping[str, Any]) -> bool:
    """Return whether a trace shows a word, or a mark with a position; a horizontal bar must also have a length."""
    places = trace.get("x", ())
    marks = any(places) if trace.get("orientation") == "h" else any(place is not None for place in places)
    return any(trace.get("text") or ()) or (trace.get("mode") != "text" and marks)


def _ordered(value: Any) -> Any:
    """Order a value as Plotly's validation would: keys sorted, None dropped, the type last."""
    if isinstance(value, Mapping):
        keys = sorted(value, key=lambda key: (key == "type", key))
        return {key: _ordered(value[key]) for key in keys if value[key] is not None}
    if isinstance(value, list | tuple) and any(isinstance(item, Mapping) for item in value):
        return [_ordered(item) for item in value]
    return value


def told(film: Sequence[Sequence[Mapping[str, Any]]]) -> list[list[dict[str, Any]]]:
    """Return the events of a film (`events.direct`) for a clock: kinds, durations and sentences, without acts."""
    return [[_told(event) for event in events] for events in film]


def _told(event: Mapping[str, Any]) -> dict[str, Any]:
    says = f"{event['head']} · {event['tail']}" if event["tail"] else event["head"]
    return {
        "kind": event["kind"],
        "ms": event["ms"],
        "says": says,
        "pays": event.get("pays", 1),
        "acts": bool(event.get("acts")),
    }


class PrintedFigure(BaseFigure):
    """A finished figure, stored as a JSON string that is never validated, copied or traversed again."""

    def __init__(self, text: str, meta: dict[str, Any]) -> None:
        self._json, self._meta = text, meta

    def __reduce__(self) -> tuple[Any, ...]:
        return PrintedFigure, (self._json, self._meta)

    @classmethod
    def of(cls, figure: go.Figure) -> PrintedFigure:
        """Return a figure, in its current state, as JSON."""
        meta = dict(figure.layout.meta or {})
        return cls(figure.to_json(), {**meta, **({"film": told(meta["film"])} if "film" in meta else {})})

    @property
    def kinds(self) -> tuple[tuple[str, ...], ...]:
        """Return the kinds of the events that lead to each frame of a film."""
        return tuple(tuple(event["kind"] for event in told) for told in self._meta["film"])

    @property
    def meta(self) -> dict[str, Any]:
        """Return `layout.meta`, which tells the page how to show the figure, and its film as `told` puts it."""
        return self._meta

    def to_json(self, *args: Any, **kwargs: Any) -> str:
        """Return the JSON."""
        return self._json

    def to_dict(self) -> dict[str, Any]:
        """Return data, layout and frames, with arrays in Plotly's base64 form."""
        return json.loads(self._json)
