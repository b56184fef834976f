"""Lesson: what on this screen is not private. The lesson shows which parts of a DEMO screen may be published."""

from __future__ import annotations

import dataclasses

import numpy as np

from dpviz.figures import Panel
from dpviz.figures.kit.theme import Theme
from dpviz.figures.scenes.lesson_maps import screen_panel
from dpviz.lessons.ground import Ground, ground
from dpviz.lessons.lesson import Exhibit
from dpviz.metrics import loss_path
from dpviz.numbers import chance, number, ratio_words
from dpviz.trace import Trace

__all__ = ["ITEMS", "LEGEND", "panels", "run"]

ITEMS = {  # items that the lesson's options name, in order -> whether they may be published
    "released centers": True,
    "KMeans": False,
    "people": False,
    "noisy votes": True,
    "loss": False,
    "groups found": False,
    "promise": True,
    "seed": False,
    "bounds": True,
}
LEGEND = (
    ("center", "filled: released center"),
    ("disc", "trial point, sized by its noisy votes"),
    ("diamond", "KMeans center"),
    ("ring", "person"),
)


@dataclasses.dataclass(frozen=True, eq=False)
class ScreenRun:
    """One run."""

    ground: Ground
    trace: Trace


def run(seed: int) -> Exhibit:
    """Run PE-means on the town."""
    town = ground("town")
    trace = town.run("pe-means", seed, epsilon=1.0)
    last = next(step for step in reversed(trace.steps) if "noisy_votes" in step.released)
    noisy = np.asarray(last.released["noisy_votes"])
    true = np.asarray(next(h.statistic["votes"] for h in last.hidden if "votes" in h.statistic))
    first = int(noisy.argmax())
    ratio = ratio_words(loss_path(trace, town.data.X)[-1] / town.loss)
    n_found, groups = town.found(trace.cluster_centers), len(town.groups.means)
    facts = {
        "people": f"{len(town.data.X):,}", "ratio": ratio, "found": n_found, "groups": groups, "seed": seed,
        "epsilon": number(trace.claimed.epsilon), "delta": chance(trace.claimed.delta),
        "mu": number(trace.claimed.mu or 0.0),
        "noisy": f"{noisy[first]:.1f}", "true": f"{true[first]:.0f}", "noise": f"{noisy[first] - true[first]:+.1f}",
        "low": number(town.data.domain.low[0], 6), "high": number(town.data.domain.high[0], 6),
    }  # fmt: skip
    titles = (
        f"All that DEMO shows · seed {seed}; {n_found} of {groups} neighborhoods found; loss {ratio} times KMeans'",
        f"What may be published · released centers, noisy votes, public bounds, and the promise: ε {facts['epsilon']}, "
        f"δ {facts['delta']}, μ {facts['mu']}",
    )
    secret = frozenset(i for i, may_leave in enumerate(ITEMS.values()) if not may_leave)
    return Exhibit(facts, titles, secret, first=0, hint=1, runs=ScreenRun(town, trace))


def panels(runs: ScreenRun, colors: Theme) -> list[Panel]:
    """Return one panel: the map, first with everything, then with only the part that may be published."""
    last = next(step for step in reversed(runs.trace.steps) if "noisy_votes" in step.released)
    view = runs.ground.view(runs.trace, colors, kmeans=True)
    return [screen_panel(view, last.released["population"], last.released["noisy_votes"])]
