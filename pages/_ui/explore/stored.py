"""Find the stored runs for the drag of ε (they match the form except for ε) and for reruns (they match it exactly).

Only samples have stored runs. Data from a file have no name here, so they are neither looked up nor stored.
"""

from __future__ import annotations

import dataclasses

import numpy as np

from dpviz import params
from dpviz.algorithms import Algorithm
from dpviz.atlas import fill
from dpviz.atlas.cells import PEOPLE, STOPS
from dpviz.atlas.files import Chart, Stop
from dpviz.datasets import SAMPLES, Dataset
from dpviz.numbers import number
from dpviz.postprocessing.bet import with_more
from dpviz.postprocessing.span import Span, span_of
from dpviz.privacy.guarantee import Notion
from dpviz.runs.public import started
from pages._ui.explore.form.fields import EXACT, SEED
from pages._ui.explore.form.forms import fields_of, preset
from pages._ui.explore.form.public_rows import OPEN, begun
from pages._ui.frame import catalog, prepared
from pages._ui.work import atlas, filling
from pages._ui.work.filling import Track
from pages._ui.work.results import Result

__all__ = [
    "Stored",
    "complete",
    "edition_of",
    "found_again",
    "more_people",
    "runs_of",
    "sample_of",
    "shared_span",
    "stored",
    "track_of",
]


@dataclasses.dataclass(frozen=True, eq=False)
class Stored:
    """Stored runs that match a form, by number of people (None for all), fewest first; empty if they are missing."""

    sample: str
    method: str
    people: int | None
    charts: dict[int | None, Chart]

    @property
    def names(self) -> dict[str, Chart]:
        """Return the stored runs by the public name of the edition of the sample on which they were made."""
        name = self.sample
        return {name if people is None else f"{name}:{people}": chart for people, chart in self.charts.items()}


def edition_of(data: Dataset) -> tuple[str, int | None] | None:
    """Return a sample's name and the number of its people that are used (None for all), or None for other data."""
    kind, _, name = data.dataset_id.partition(":")
    sample, _, people = name.partition(":")
    if data.private or kind != "sample" or sample not in SAMPLES:
        return None
    return sample, int(people) if people else None


def runs_of(data: Dataset, algorithm: Algorithm) -> Stop | None:
    """Return the stored runs of exactly this algorithm on a sample (run i has seed i), or None if there are none."""
    here, names = edition_of(data), [field.name for field in dataclasses.fields(algorithm)]
    if here is None:
        return None
    usual = started(type(algorithm)(n_clusters=data.n_clusters), data)
    values = {name: getattr(algorithm, name) for name in names if name != "epsilon"}
    changed = tuple((name, value) for name, value in values.items() if value != getattr(usual, name))
    chart = atlas.chart(here[0], algorithm.slug, here[1], changed)
    return None if chart is None else chart.at(getattr(algorithm, "epsilon", None))


def sample_of(data: Dataset) -> str:
    """Return the name of the sample to which the people belong, "" if there is none."""
    return (edition_of(data) or ("",))[0]


def stored(name: str, data: Dataset, cls: type[Algorithm]) -> Stored | None:
    """Return the stored runs that match the form except for ε, or None if the atlas is not meant to have any.

    A method with the parameter rho has stored runs only if all columns share a scale.
    """
    here, specs = edition_of(data), params.specs(cls)
    if here is None or not atlas.covers(here[0], cls.slug) or "epsilon" not in specs or not prepared.shows("form"):
        return None
    sample, people = here
    if people not in (*PEOPLE.get(sample, ()), None) or not _usual(name, data, cls):
        return None
    charts = {}
    if atlas.chart(sample, "kmeans") is not None:
        every = {some: atlas.chart(sample, cls.slug, some) for some in (*PEOPLE.get(sample, ()), None)}
        charts = {some: chart for some, chart in every.items() if chart is not None}
    if charts and (people not in charts or SEED.held >= charts[people].seeds):
        return None
    return Stored(sample, cls.slug, people, charts)


def track_of(name: str, data: Dataset, cls: type[Algorithm]) -> Track | None:
    """Return the track that is made for the form's choices while the page is open, or None if they cannot have one."""
    specs = params.specs(cls)
    if EXACT.held or SEED.held >= fill.RUNS:
        return None
    if not prepared.shows("form"):
        return None
    fields = fields_of(cls, name, {"n_clusters": data.n_clusters}, preset(cls).held)
    try:
        return filling.track(data, begun(cls(**{one: fields[one].value for one in specs}), data))
    except (ValueError, TypeError):  # the parameter's own field reports the error
        return None


def _usual(name: str, data: Dataset, cls: type[Algorithm]) -> bool:
    """Return whether the form has the method's default values in everything but ε."""
    if cls.notion is Notion.RHO and not data.domain.one_scale:
        return False
    if EXACT.held or (cls.takes_public_rows and not OPEN.held):
        return False
    fields = fields_of(cls, name, {"n_clusters": data.n_clusters}, preset(cls).held)
    usual = cls(n_clusters=data.n_clusters)
    try:
        return all(fields[one].value == getattr(usual, one) for one in fields if one != "epsilon")
    except ValueError:
        return False


def _chart_of(here: Stored | None, result: Result) -> Chart | None:
    """Return the stored runs to which a run belongs, or None if there are none."""
    if here is None or result.trace.algorithm != here.method or edition_of(result.data) != (here.sample, here.people):
        return None
    return here.charts.get(here.people)


def found_again(here: Stored | None, result: Result) -> tuple[int, int] | None:
    """Return how many matching stored runs found all groups, and how many runs there are, or None if there are none."""
    chart = _chart_of(here, result)
    if chart is None:
        return None
    same = (stop for stop in chart.stops if stop.epsilon == result.trace.parameters["epsilon"])
    return next((complete(stop, chart.groups) for stop in same), None)


def complete(stop: Stop, n_groups: int) -> tuple[int, int]:
    """Return how many stored runs at one ε found every group, and how many stored runs there are."""
    return int(np.count_nonzero(stop.found == n_groups)), len(stop.found)


def more_people(algorithm: Algorithm | None, data: Dataset) -> str:
    """Return the bet with all people of the sample, as `with_more` puts it, or "" if `data` has them all."""
    sample, people = edition_of(data) or ("", None)
    if algorithm is None or people is None:
        return ""
    whole = catalog.sample(sample)
    odds, more = (algorithm.guarantee(data.domain.n_features, one.n_public).person.odds for one in (data, whole))
    return with_more(odds, more, whole.n_public)


def shared_span(here: Stored | None, result: Result) -> Span | None:
    """Return the directions in which all matching runs are drawn: those of the first run at the largest ε, or None.

    Dragging ε then moves the centers but not the axes, even after the visitor lets go.
    """
    chart = _chart_of(here, result)
    stop = None if chart is None else chart.at(STOPS[-1])
    if stop is None:
        return None
    return span_of(result.data.domain, stop.centers[0], f"the centers at ε {number(STOPS[-1])}")
