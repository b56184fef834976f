"""Lesson: why votes split. Top-k voting and k-means selection run side by side on the same people and trial points."""

from __future__ import annotations

import dataclasses

from dpviz.figures import Panel
from dpviz.figures.evolution.pe_means import PANE
from dpviz.figures.kit.legend import HIDDEN
from dpviz.figures.kit.theme import LIGHT, Theme
from dpviz.figures.kit.view import View
from dpviz.figures.scenes import splitting
from dpviz.figures.scenes.lessons import GROUPS
from dpviz.lessons.ground import Ground, ground
from dpviz.lessons.lesson import Exhibit
from dpviz.metrics import loss_path
from dpviz.numbers import number, ratio_words
from dpviz.trace import Trace

__all__ = ["LEGEND", "panels", "run"]

EPSILON = 4.0
LEGEND = (*(entry for entry in PANE.legend if entry[0] not in HIDDEN), *GROUPS[1:])


@dataclasses.dataclass(frozen=True, eq=False)
class VoteRuns:
    """The two runs."""

    ground: Ground
    voted: Trace
    clustered: Trace

    def views(self, colors: Theme) -> tuple[View, View]:
        """Return both runs with their losses."""
        there = self.ground
        first, second = (
            dataclasses.replace(
                there.view(trace, colors, kmeans=True),
                losses=loss_path(trace, there.data.X),
                reference_loss=there.loss,
            )
            for trace in (self.voted, self.clustered)
        )
        return first, second


def run(seed: int) -> Exhibit:
    """Run Aug-PE and PE-means on the town."""
    town = ground("town")
    voted, clustered = (town.run(slug, seed, epsilon=EPSILON) for slug in ("aug-pe", "pe-means"))
    runs = VoteRuns(town, voted, clustered)
    views = runs.views(LIGHT)
    left, right = (splitting.found_table(view) for view in views)
    worst = int(left.found.argmin())
    facts = {
        "groups": len(town.groups.means), "rounds": len(left), "left": int(left.found.iloc[-1]),
        "right": int(right.found.iloc[-1]), "fewest": int(left.found.min()), "round": worst + 1,
        "left_loss": ratio_words(left.loss_ratio.iloc[-1]), "right_loss": ratio_words(right.loss_ratio.iloc[-1]),
        "sd": number(voted.steps[0].released["noise_sd"], 2), "epsilon": number(EPSILON),
        "smallest": f"{int(town.groups.sizes.min()):,}",
    }  # fmt: skip
    same = int(left.found.iloc[-1]) >= int(right.found.iloc[-1])
    noisy = float(voted.steps[0].released["noise_sd"]) > town.groups.sizes.min() / 2
    answer = 0 if noisy else 1 if same else 2
    told, kept = tuple(splitting.sentences(*views)), splitting.PHASES - 1  # the last picture of the first round
    hint = splitting.PHASES * worst + kept
    return Exhibit(facts, told, frozenset({answer}), first=kept, hint=hint, runs=runs)


def panels(runs: VoteRuns, colors: Theme) -> list[Panel]:
    """Return three panels: the two maps and the losses."""
    return splitting.panels(*runs.views(colors))
