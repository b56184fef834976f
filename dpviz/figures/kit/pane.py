"""Define how one family of algorithms is drawn: its figures, its key and its texts."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence

from dpviz.figures.kit.events import Event, direct, plain
from dpviz.figures.kit.mosaic import known_centers
from dpviz.figures.kit.scale_bar import as_map
from dpviz.figures.kit.shots import Shot, one_a_step
from dpviz.figures.kit.view import Panel, View
from dpviz.trace import Trace

__all__ = ["Pane"]


@dataclasses.dataclass(frozen=True)
class Pane:
    """Functions and texts with which one family of algorithms is drawn.

    Attributes
    ----------
    draw : View, shots -> the figures, each with one frame per shot
    legend : pairs of a symbol of `legend.icon` and its meaning
    caution : sentences that say how the picture can mislead
    warning : Trace -> one sentence if released values show that there is too little data, else ""
    shots : Trace -> the stops of the player; by default one per step
    events : View, shots -> the events of the film that lead to each stop; by default one, a move between two pictures
    pictures : View, shots -> the panel that replaces the plane if the columns are the cells of a picture; by default it
        shows the latest centers at each stop
    picture_legend : the key of `pictures`; numbered pictures need no key
    cells : True if the pane draws cells; two columns are then drawn by default, because cells are boxes only along
        columns
    follows : True if each frame may show two other columns
    unpinned : label of the option to choose no columns
    """

    draw: Callable[[View, list[Shot]], list[Panel]]
    legend: tuple[tuple[str, str], ...]
    caution: str
    warning: Callable[[Trace], str] = lambda trace: ""
    shots: Callable[[Trace], list[Shot]] = one_a_step
    events: Callable[[View, Sequence[Shot]], list[tuple[Event, ...]]] = lambda view, shots: plain(shots)
    pictures: Callable[[View, list[Shot]], Panel] = known_centers
    picture_legend: tuple[tuple[str, str], ...] = ()
    cells: bool = False
    follows: bool = False
    unpinned: str = "directions of the released centers"

    def panels(self, view: View) -> list[Panel]:
        """Return the figures of a run; if the columns are the cells of a picture, pictures replace the plane."""
        shots = self.shots(view.trace)
        drawn = self.draw(view, shots)
        first = next(i for i, panel in enumerate(drawn) if panel.name == "plane")
        if view.picture is not None:
            drawn[first] = self.pictures(view, shots)
        else:
            as_map(view, drawn[first].figure)
            alt = f"{drawn[first].alt}{view.placed(view.trace.cluster_centers)}"
            drawn[first] = dataclasses.replace(drawn[first], alt=alt)
        direct(drawn[first].figure, self.events(view, shots))
        return drawn

    def key(self, *, pictured: bool) -> tuple[tuple[str, str], ...]:
        """Return the key of the plane, or of the pictures that replace it."""
        return self.picture_legend if pictured else self.legend
