"""Put two runs side by side under one clock: two methods on public people, or two releases on a private file."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any

from dpviz import params
from dpviz.algorithms import ALGORITHMS
from dpviz.figures import View, columns, pane
from dpviz.figures.compare import planes, timeline
from dpviz.figures.kit.legend import HIDDEN
from dpviz.figures.kit.theme import SLOTS
from dpviz.postprocessing.beside import LETTERS, budgets, facts, kinds, partners
from dpviz.postprocessing.span import shared
from dpviz.postprocessing.verdict import private_verdict
from dpviz.runs.public import started
from dpviz.runs.single import replay
from dpviz.takeaway.comparison import comparison
from dpviz.takeaway.label import badge, names_of
from dpviz.takeaway.replay import key, player
from dpviz.trace import Trace

from . import private
from .forms import algorithm_of, answered, seed_of
from .public import data_of, reference_of, sentence, verdicts

__all__ = ["compared", "releases"]

SHARED = ("n_clusters", "epsilon")  # parameters that the second method takes from the first one's form, like the seed
HEIGHT = 430  # of a picture, in pixels, as on the app's Compare


def compared(asked: str, say: Callable[[int, int], None]) -> str:
    """Run two methods with the same k, ε and seed; return both in one film, or `refused` with a sentence.

    The answer has the `title`, the `film`, a `badge` and the verdicts of each of the `runs`, sentences on how promises
    differ in `kind` and in `budget`, the lines of what `differs`, and both runs as one `page`.

    Parameters
    ----------
    asked : JSON with the texts of the form, as for a run, and the `other` method, which keeps its defaults for all else
    say : function that receives the numbers of releases made and planned
    """
    return answered(asked, lambda form: _compared(form, say))


def _compared(form: dict[str, Any], say: Callable[[int, int], None]) -> dict[str, Any]:
    data, seed = data_of(form), seed_of(form["seed"])
    first, other = algorithm_of(form), ALGORITHMS[form["other"]]
    given = {"n_clusters": data.n_clusters}
    given |= {name: getattr(first, name) for name in SHARED if name in params.specs(type(first))}
    second = other(**{name: value for name, value in given.items() if name in params.specs(other)})
    both = started(first, data), started(second, data)
    for algorithm in both:  # before either runs
        algorithm.check_domain(data.domain, data.n_public)
    traces = [replay(data, algorithm, seed, say).trace for algorithm in both]
    kmeans = [reference_of(data, algorithm, seed) for algorithm in both]
    axes = columns(data, *traces)
    views = [
        View(
            trace, SLOTS, axes, data.columns, data.units, data.X, one.trace.cluster_centers, hidden=True,
            noun=data.noun, picture=data.picture if axes is None else None,
            span=shared(traces) if axes is None and len(data.columns) > 1 else None,
        )
        for trace, one in zip(traces, kmeans, strict=True)
    ]  # fmt: skip
    runs = [verdicts(data, trace, one) for trace, one in zip(traces, kmeans, strict=True)]
    return _beside(traces, views, runs, data.noun) | {"page": comparison(traces)}


def releases(asked: str) -> str:
    """Return two releases that were counted and drawn in this tab, as `compared` does; nothing runs or is spent.

    Parameters
    ----------
    asked : JSON with the ids of the two `claims`
    """
    return answered(asked, lambda form: _releases(form["claims"]))


def _releases(claims: Sequence[str]) -> dict[str, Any]:
    if len(set(claims)) < 2:
        raise ValueError("Choose two different releases.")
    traces = [private.release_of(claim) for claim in claims]
    bounds = [(one.domain.columns, one.domain.low.tolist(), one.domain.high.tolist()) for one in traces]
    if bounds[0] != bounds[1]:
        raise ValueError("These two releases have other columns or other bounds, so they cannot be compared.")
    names, units = names_of(traces[0])
    span = shared(traces) if len(names) > 2 else None
    views = [View(trace, SLOTS, (0, 1) if len(names) == 2 else None, names, units, span=span) for trace in traces]
    runs = [{"released": sentence(private_verdict(trace, names, units))} for trace in traces]
    return _beside(traces, views, runs, "row")


def _beside(
    traces: Sequence[Trace], views: Sequence[View], runs: Sequence[dict[str, str]], noun: str
) -> dict[str, Any]:
    drawn = planes(views, partners(traces), height=HEIGHT)
    clock = timeline(traces, "event", [panel.figure.meta["film"] for panel in drawn])
    names = [f"{letter}: {trace.name}" for letter, trace in zip(LETTERS, traces, strict=False)]
    rooms = [dataclasses.replace(panel, name=room) for panel, room in zip(drawn, ("plane", "side"), strict=True)]
    lines = [title.replace(" · ", "; ") for title in clock.titles]
    ends = [*zip(names, clock.ends, strict=True)]
    box, record = player(lines, rooms, first=clock.ticks - 1, clock=clock.ms, beside=ends)
    symbols = dict.fromkeys(
        entry for view in views for entry in pane(view.trace).key(pictured=view.picture is not None)
    )
    told = key([(symbol, words) for symbol, words in symbols if views[0].hidden or symbol not in HIDDEN])
    return {
        "title": " beside ".join(names),
        "film": f"{box}{told}{record}",
        "runs": [
            one | {"name": name, "badge": badge(trace)} for one, name, trace in zip(runs, names, traces, strict=True)
        ],
        "kind": " ".join(kinds(traces)),
        "budget": " ".join(budgets(traces, noun)),
        "differs": [[fact.name, *fact.values] for fact in facts(traces, noun) if fact.differs],
    }
