"""Lesson: a lottery over cuts. DPM draws a cut; epsilon tilts the chances towards the best one, and never decides."""

from __future__ import annotations

import dataclasses

import numpy as np
import pandas as pd

from dpviz.figures import Panel
from dpviz.figures.kit.theme import LIGHT, Theme
from dpviz.figures.scenes.lesson_maps import cuts_panel, tickets_panel
from dpviz.figures.trees.dpm_scores import scores_table
from dpviz.lessons.ground import Ground, ground
from dpviz.lessons.lesson import Exhibit
from dpviz.numbers import fraction, number
from dpviz.privacy.ledger import Release
from dpviz.privacy.noise import Seeded
from dpviz.trace import Trace

__all__ = ["DRAWS", "EPSILONS", "LEGEND", "panels", "run"]

SAMPLE = "town"
EPSILONS = (0.05, 0.1, 0.25, 0.5, 1.0, 4.0)
ASKED = EPSILONS.index(0.25)
DRAWS = 100
LEGEND = (
    ("bar", "drawn, of 100"),
    ("dash", "expected, of 100"),
    ("cut", "cut that was drawn: the thicker, the more often"),
    ("ring", "person"),
)


@dataclasses.dataclass(frozen=True, eq=False)
class Lottery:
    """DPM's first cut at every epsilon.

    Attributes
    ----------
    traces : one run at every epsilon, which may cut once
    tables : for every epsilon, the cuts from the best score to the worst, with the columns of `scores_table` and drawn,
        the number of times that each won in DRAWS draws. NOT PRIVATE
    """

    ground: Ground
    traces: tuple[Trace, ...]
    tables: tuple[pd.DataFrame, ...]

    @property
    def best(self) -> list[float]:
        """Return the chance of the best cut at every epsilon."""
        return [float(table.probability.iloc[0]) for table in self.tables]

    @property
    def drawn(self) -> list[int]:
        """Return how many of DRAWS draws the best cut wins at every epsilon."""
        return [int(table.drawn.iloc[0]) for table in self.tables]


def run(seed: int) -> Exhibit:
    """Run DPM on the town at every epsilon, and draw its first cut 100 times."""
    town, rng = ground(SAMPLE), np.random.default_rng(seed)
    traces = tuple(town.run("dpm", seed, epsilon=epsilon, max_depth=1) for epsilon in EPSILONS)
    runs = Lottery(town, traces, tuple(_drawn(town, trace, rng) for trace in traces))
    tables, cuts = runs.tables, len(runs.tables[0])
    titles = tuple(
        f"ε {fraction(epsilon)} · {_winners(table)} different cuts win in {DRAWS} draws; the best cut is expected "
        f"{number(DRAWS * table.probability.iloc[0], 2)} times and wins {table.drawn.iloc[0]} times"
        for epsilon, table in zip(EPSILONS, tables, strict=True)
    )
    asked, half = tables[ASKED], cuts // 2
    facts = {
        "cuts": cuts, "draws": DRAWS, "few": fraction(EPSILONS[ASKED]),
        "many": fraction(EPSILONS[-1]), "least": fraction(EPSILONS[0]), "even": number(DRAWS / cuts, 2),
        "expected": number(DRAWS * asked.probability.iloc[0], 2), "won": int(asked.drawn.iloc[0]),
        "expected_many": number(DRAWS * runs.best[-1], 2),
        "winners": _winners(asked), "winners_least": _winners(tables[0]), "worse": int(asked.drawn.iloc[half:].sum()),
        "half": half, "scale": number(scale(traces[ASKED]), 2), "scale_many": number(scale(traces[-1]), 2),
        "range": number(_entry(traces[0]).sensitivity),
    }  # fmt: skip
    tilted = 10 / cuts < runs.best[ASKED] < 0.5 and asked.probability.iloc[half:].sum() < 0.02
    return Exhibit(facts, titles, frozenset({3 if tilted else 0}), first=len(EPSILONS) - 1, hint=ASKED, runs=runs)


def scale(trace: Trace) -> float:
    """Return by how many points of the score a cut must be better to have e times the chance, for a run's first cut."""
    return _entry(trace).scale


def _entry(trace: Trace) -> Release:
    return next(entry for entry in trace.ledger if entry.label == "split")


def _drawn(town: Ground, trace: Trace, rng: np.random.Generator) -> pd.DataFrame:
    table = scores_table(town.view(trace, LIGHT), 0)
    statistic = next(hidden.statistic for hidden in trace.steps[0].hidden if hidden.label == "split")
    noise, utilities = Seeded(rng), np.asarray(statistic["utility"])
    wins = [noise.gumbel_argmax(utilities, scale(trace)) for _ in range(DRAWS)]
    table["drawn"] = pd.Series(wins).value_counts().reindex(table.index, fill_value=0)
    return table.sort_values("score", ascending=False, kind="stable", ignore_index=True)


def _winners(table: pd.DataFrame) -> int:
    return int((table.drawn > 0).sum())


def panels(runs: Lottery, colors: Theme) -> list[Panel]:
    """Return two panels: the cuts that win, and how often the best ones were expected and drawn."""
    view = runs.ground.view(runs.traces[-1], colors)
    plane = cuts_panel(view, f"{DRAWS} draws of DPM's first cut", runs.tables)
    drawn = runs.drawn
    title = (
        f"The best cut wins {drawn[0]} times at ε {fraction(EPSILONS[0])}, {drawn[-1]} at ε {fraction(EPSILONS[-1])}"
    )
    return [plane, tickets_panel(colors, title, runs.tables, DRAWS)]
