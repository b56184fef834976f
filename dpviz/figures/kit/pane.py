"""Define how one family of algorithms is drawn: its figures, its key, and its words."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

from dpviz.figures.kit.mosaic import known_centers
from dpviz.figures.kit.shots import Shot, one_a_step
from dpviz.figures.kit.view import Panel, View
from dpviz.trace import Trace

__all__ = ["Pane"]


@dataclasses.dataclass(frozen=True)
class Pane:
    """The functions and words with which one family of algorithms is drawn.

    Attributes
    ----------
    draw : View, shots -> the figures, each with one frame per shot
    legend : (symbol of `legend.icon`, word) pairs
    caution : a few sentences on how the picture can mislead
    warning : Trace -> one sentence if released values show that there is too little data, else ""
    shots : Trace -> the pictures of the player; one per step by default
    pictures : View, shots -> the panel in the plane's place if the columns are the cells of a picture; by default the
        centers known by each stop
    picture_legend : the key of `pictures`; numbered pictures need none
    cells : True if the pane draws cells; two columns are then drawn by default, because cells are boxes only along
        columns
    follows : True if each frame may choose two columns of its own
    unpinned : label of the option to choose no columns
    """

    draw: Callable[[View, list[Shot]], list[Panel]]
    legend: tuple[tuple[str, str], ...]
    caution: str
    warning: Callable[[Trace], str] = lambda trace: ""
    shots: Callable[[Trace], list[Shot]] = one_a_step
    pictures: Callable[[View, list[Shot]], Panel] = known_centers
    picture_legend: tuple[tuple[str, str], ...] = ()
    cells: bool = False
    follows: bool = False
    unpinned: str = "directions of the released centers"

    def panels(self, view: View) -> list[Panel]:
        """Return the figures of a run; if its columns are the cells of a picture, pictures take the plane's place."""
        shots = self.shots(view.trace)
        drawn = self.draw(view, shots)
        if view.picture is not None:
            drawn[next(i for i, panel in enumerate(drawn) if panel.name == "plane")] = self.pictures(view, shots)
        return drawn

    def key(self, *, pictured: bool) -> tuple[tuple[str, str], ...]:
        """Return the key of the plane, or of the pictures in its place."""
        return self.picture_legend if pictured else self.legend
