"""What a picture of a run shows: the controls that set it, and `How`, the value in which it travels."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from dpviz.datasets import Dataset
from dpviz.figures import columns, pane
from dpviz.postprocessing.coresets import COSTS
from dpviz.postprocessing.span import Axes
from pages._ui.frame.address.control import Control, choice, number, switch
from pages._ui.frame.address.data import FILE
from pages._ui.frame.prepared import shows
from pages._ui.frame.session import session
from pages._ui.work.results import Result

__all__ = [
    "ANY_K",
    "CLOUDS",
    "HIDDEN",
    "HOW_MANY",
    "How",
    "columns_of",
    "controls",
    "cards_k",
    "of_coreset",
    "switch_hidden",
]


@dataclasses.dataclass(frozen=True)
class How:
    """What a picture shows of a run: hidden layers (DEMO), and the two columns or directions that it draws."""

    hidden: bool = False
    axes: Axes = None

    @classmethod
    def asked(cls, data: Dataset, result: Result | None, shared: Callable[[Result], Axes]) -> How:
        """Draw the controls of a run's picture that stand in the form; return what they and the switch say.

        `shared` returns the axes of the stored runs like this one, which are drawn if the visitor chooses no columns.
        """
        hidden = not data.private and shows("kmeans") and bool(HIDDEN.held)
        return cls(hidden, None if result is None else _axes(result, shared))

    @property
    def switches(self) -> dict[str, bool]:
        """Return the parts that are switched on or off, by name; a panel's script reads them."""
        values = {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}
        return {name: value for name, value in values.items() if isinstance(value, bool)}


class Columns(Control):
    """The control for the columns to draw, with None for the picture's own columns."""

    def from_widget(self, value: Any) -> Any:
        """Return the chosen columns, or None if none are chosen and the picture has no columns of its own."""
        return None if not value and self.key in session.unpinned else super().from_widget(value)


HIDDEN = Control("layers", "explore_hidden", "Show what stays secret", switch(True), look=True)
_CLOUDS = {"all": "All at once", "one": "One after the other"}
CLOUDS = Control(
    "clouds", "explore_again_how", "Reruns", choice("all", tuple(_CLOUDS)), look=True, widget="segmented_control",
    named=_CLOUDS,
)  # fmt: skip
HOW_MANY = Control("many", "explore_how_many", "How many clusters?", switch(False))
ANY_K = Control("any", "explore_any_k", "Any k afterwards", switch(False))


def columns_of(data: Dataset, slug: str) -> Control:
    """Return the control for the columns that a method's picture draws."""
    return Columns(
        "axes", f"seen_{data.dataset_id}_{slug}", "Columns to draw", choice(None, range(len(data.columns))), many=True,
        most=2, look=True, named=lambda i: data.columns[i],
    )  # fmt: skip


def switch_hidden(data: Dataset) -> None:
    """Draw the switch for hidden layers, if there are any."""
    if not data.private and shows("kmeans"):
        HIDDEN.draw(
            help=f"{data.nouns.capitalize()}, KMeans and everything computed from them. This exists only because these "
            f"{data.nouns} are made up or public; it never exists for private rows."
        )


def _axes(result: Result, shared: Callable[[Result], Axes]) -> Axes:
    """Return the two columns or directions to draw, or None for the picture's own; visitors may choose columns."""
    data, usual, unpinned = result.data, columns(result.data, result.trace), pane(result.trace).unpinned
    if len(data.columns) < 3:
        return usual
    control = columns_of(data, result.trace.algorithm)
    (session.unpinned.add if usual is None else session.unpinned.discard)(control.key)
    chosen = control.draw(
        default=usual, placeholder=unpinned,
        help=f"Choose two columns, or none for {unpinned}. Private rows influence the initial choice only through "
        "released values.",
    )  # fmt: skip
    return (chosen[0], chosen[1]) if len(chosen) == 2 else shared(result)


def cards_k(k: int) -> Control:
    """Return the control for the number of clusters on an own file's cards, first the run's own `k`."""
    return Control(
        "kc", "explore_cards_k", "Number of clusters, from the same release", number(k, 1, 256), look=True,
        widget="slider",
    )  # fmt: skip


def of_coreset(k: int, *, medians: bool) -> tuple[Control, Control]:
    """Return the controls of the centers made from released points: their number, first `k`, and their cost."""
    own = COSTS[medians]
    return (
        Control(
            "anyk", "explore_coreset_k", "Number of centers, from the released points", number(k, 1, 256),
            widget="slider",
        ),
        Control("cost", f"explore_coreset_cost_{own}", "Cost", choice(own, COSTS), widget="segmented_control"),
    )  # fmt: skip


def controls(known: Mapping[str, Any], data: Dataset, slug: str) -> Sequence[Control]:
    """Return the controls of all pictures of a run."""
    listed = [HIDDEN, CLOUDS, HOW_MANY, ANY_K]
    if str(known.get("d", "")).startswith(FILE):
        listed.append(cards_k(int(known.get("k") or data.n_clusters)))
    if known.get("any"):  # the run has a coreset, so its points are released
        listed += of_coreset(int(known.get("k") or data.n_clusters), medians=known.get("p.objective") == "medians")
    if len(data.columns) > 2:
        listed.append(columns_of(data, slug))
    return listed
