"""Describe a run as a film: events, each with a duration, a sentence, and marks that move. The stage draws them.

Every shot of a pane is reached through one or more events; the last one ends with the shot's own picture. An event
without acts is drawn as a move from one shot's picture to the next. A family gets events of its own from one function
in its file, `events(view, shots)`, named in its `PANE`: a tuple of `Event`s per shot, whose acts name the layers
(traces) of its plane. An act is a dict with these keys, all but the first optional:

    layer | look   name of a layer, whose style and content it has, or a style of its own (a trace's properties)
    at             -1 for the layer's content at the previous shot, 0 (default) for that at this one
    to, from       where marks are at the end and at the beginning: {"x", "y"}, or {"layer", "at", "index"} for some
                   marks of a layer, or {"act", "index"} for marks of an earlier act; an index of -1 is a mark without
                   a place. Without `to` it is the layer's content; without `from` it is what `view.moved` has stored
    span           shares of the event between which it happens
    wave           share of that span over which marks begin, one after another, in a fixed order
    size, opacity, color   values at the beginning and at the end; size may have lists, None is the layer's own
    shake          pixels by which marks shake at first
    streak         share of its way that a moving mark leaves behind as a line
    fall, shift    pixels by which marks fall; units [x, y] by which they move aside
    gone           True if a mark is drawn only while it moves
    fill           number of an earlier act with `gone` whose marks fill these: each grows with those that have arrived
    rays           True to draw lines from `from` to `to` in place of marks
    run            True to draw one mark that runs over the points of `to` in order and stops at the last
    count          texts' numbers at the beginning and at the end

What an act shows of secret values (true votes, true scores) may be there only if `view.hidden`; without it, all parts
of all events depend on released values alone (`tests/figures/test_films.py`).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

import plotly.graph_objects as go

from dpviz.figures.kit.shots import Shot

__all__ = ["Act", "Event", "direct", "plain"]

Act = dict[str, Any]
SECONDS = 0.9  # duration of an event without acts
CAPTION, TAG = 42, 27  # heights in pixels of a caption, and of a tag below it


@dataclasses.dataclass(frozen=True)
class Event:
    """One event of a film.

    Attributes
    ----------
    kind : what happens, such as "vote"
    head, tail : the caption: what happens, and a sentence about it
    seconds : its duration at normal speed
    acts : what is drawn over the still layers, the first at the bottom; none for a move between two pictures
    dim : opacity of the still layers below, such as people, at the beginning and at the end
    pays : what is paid during this event, in proportion to the other events of its shot, by which the meter moves; the
        other panels without acts move during the last event that pays
    lens : place (x, y) and radius, in units of the axes, of a part that is shown enlarged, and the corner (0 or 1 on
        each axis, 0 at its lower end) where it is shown; or None
    """

    kind: str
    head: str
    tail: str = ""
    seconds: float = SECONDS
    acts: tuple[Act, ...] = ()
    dim: tuple[float, float] = (1.0, 1.0)
    pays: float = 1.0
    lens: tuple[float, float, float, tuple[int, int]] | None = None

    @property
    def sentence(self) -> str:
        """Return the caption as one sentence; on screen, the part before " · " is bold."""
        return f"{self.head} · {self.tail}" if self.tail else self.head


def plain(shots: Sequence[Shot]) -> list[tuple[Event, ...]]:
    """Return one event without acts for every shot, with the shot's own sentence."""
    return [(Event("step", shot.head, shot.tail),) for shot in shots]


def direct(figure: go.Figure, film: Sequence[Sequence[Event]]) -> None:
    """Write a film into the figure of a plane, for the stage, which draws its captions in place of the title.

    The acts of an event that name a layer which the figure lacks are left out, as in pictures that replace a plane.
    """
    numbers = {str(trace.name): i for i, trace in enumerate(figure.data)}
    looks: list[dict[str, Any]] = []
    written = [[_written(event, numbers, looks) for event in events] for events in film]
    tagged = any("NOT PRIVATE" in (note.text or "") and note.y == 1 for note in figure.layout.annotations)
    figure.update_layout(meta={**(figure.layout.meta or {}), "film": written, "looks": looks})
    figure.update_layout(margin={"t": CAPTION + TAG * tagged})


def _written(event: Event, numbers: Mapping[str, int], looks: list[dict[str, Any]]) -> dict[str, Any]:
    refs = [ref for act in event.acts for ref in (act, act.get("to", {}), act.get("from", {}))]
    known = {ref["layer"] for ref in refs if "layer" in ref} <= set(numbers)
    acts = [_numbered(act, numbers, looks) for act in event.acts] if known else []
    words = {"kind": event.kind, "head": event.head, "tail": event.tail, "ms": round(1000 * event.seconds)}
    more = {"acts": acts, "dim": list(event.dim), "lens": event.lens} if acts else {}
    return {**words, **({} if event.pays == 1 else {"pays": round(event.pays, 4)}), **more}


def _numbered(act: Act, numbers: Mapping[str, int], looks: list[dict[str, Any]]) -> Act:
    """Return an act with numbers in place of the names of layers, and in place of its look, which many acts share."""
    written: Act = {}
    for key, value in act.items():
        if key == "look":
            if value not in looks:
                looks.append(value)
            written[key] = looks.index(value)
        elif key == "layer":
            written[key] = numbers[value]
        else:
            written[key] = _numbered(value, numbers, looks) if isinstance(value, dict) else value
    return written
