"""What every algorithm does, in six to ten lines: which line runs at which step, and which lines read rows.

A line that names a label asks the curator for it: it reads rows and costs budget. All other lines work on released
values and are free. A test compares kinds, moments and labels with traces.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple

__all__ = ["PSEUDOCODE", "Line", "lines_of"]


class Line(NamedTuple):
    """One line of pseudo-code.

    Attributes
    ----------
    text : what is done, plain words; two spaces in front for the inside of a loop; a colon at the end: no more than
        the head of a loop
    kinds : kinds of the steps at which the line runs
    label : label of the release that the line asks for, "" where it reads no row
    at : when in its step it runs, any of "first" and "later" (the first picture of the kind's first step, of its later
        steps), "before" (the first picture of every step), "read" (the picture in which its release is made; in a
        line without a label, any release), "after" (the last picture of every step), "end" (the last picture of the
        kind's last step). Empty: "read" with a label, "after" without
    given : name of a released value of the step: the line runs only where any of it is true; "not NAME": where none is
    """

    text: str
    kinds: tuple[str, ...]
    label: str = ""
    at: tuple[str, ...] = ()
    given: str = ""

    @property
    def reads_rows(self) -> bool:
        """Whether the line costs budget."""
        return bool(self.label)

    @property
    def moments(self) -> tuple[str, ...]:
        """When it runs: `at`, or what follows from the label; () for the head of a loop."""
        if self.text.endswith(":"):
            return ()
        return self.at or (("read",) if self.label else ("after",))


_UPDATE = (
    Line("spread k centers over the public bounds", ("packing",)),
    Line("repeat a few rounds:", ("noisy-iteration",)),
    Line("  give each row to its nearest center", ("noisy-iteration",), "update", ("before",)),
    Line("  add up rows and count them, with noise", ("noisy-iteration",), "update"),
    Line("  divide: noisy sums by noisy counts", ("noisy-iteration",), at=("read",)),
    Line("  bring centers back into the bounds", ("noisy-iteration",)),
)


def _evolution(kind: str, choose: str) -> tuple[Line, ...]:
    return (
        Line("scatter guesses over the public ball", (kind,), at=("first",)),
        Line("repeat for T rounds:", (kind,)),
        Line("  each row votes for the nearest guess; noise", (kind,), "votes"),
        Line("  drop guesses with too few noisy votes", (kind,)),
        Line(f"  {choose}", (kind,)),
        Line("  vary them: new guesses around each center", (kind,), at=("later",)),
    )


_RECOVER = (
    Line("give each row to its nearest center", ("recover",), "recover"),
    Line("average the rows of each center, with noise", ("recover",), "recover"),
)
_SWAPS = (
    Line("begin with any k candidates", ("swap",), at=("first",)),
    Line("repeat: try every exchange of two", ("swap",), at=("before",)),
    Line("  pick one, better ones more often", ("swap",), "swap"),
    Line("pick the best of all rounds, with noise", ("pick",), "pick"),
)

PSEUDOCODE: dict[str, tuple[Line, ...]] = {
    "kmeans": (
        Line("choose k rows as first centers", ("iteration",), at=("first",)),
        Line("repeat until nothing moves:", ("iteration",)),
        Line("  give each row to its nearest center", ("iteration",), at=("later",)),
        Line("  move each center to the mean of its rows", ("iteration",), at=("later",)),
        Line("start ten times, keep the best", ("iteration",), at=("end",)),
        Line("no noise anywhere: NOT PRIVATE", ("iteration",), at=("end",)),
    ),
    "pe-means": (
        *_evolution("generation", "k-means on what is left gives k centers"),
        Line("if asked for: average each center's rows once", ("refinement",), "refine"),
    ),
    "hdpe-means": (
        Line("project columns to a few random directions", ("projected-generation",), at=("first",)),
        *_evolution("projected-generation", "k-means on what is left gives k centers"),
        Line("average the rows of each center in all columns", ("recovery",), "recover"),
    ),
    "aug-pe": _evolution("generation", "the k guesses with most votes are the centers"),
    "dp-lloyd": (Line("place k centers anywhere in the public bounds", ("packing",)), *_UPDATE[1:]),
    "sulloyd": _UPDATE,
    "glloyd": _UPDATE,
    "fastlloyd": (
        *_UPDATE[:2],
        Line("  give each row to its nearest center", ("noisy-iteration",), "update", ("before",)),
        Line("  rows outside the radius do not count", ("noisy-iteration",), "update", ("before",)),
        Line("  add up offsets and count, with noise", ("noisy-iteration",), "update"),
        Line("  move by noisy sums over noisy counts,", ("noisy-iteration",), at=("read",)),
        Line("  at most by the radius, which shrinks", ("noisy-iteration",)),
        _UPDATE[-1],
    ),
    "eugkm": (
        Line("lay a grid over the public bounds", ("grid",)),
        Line("count the rows of every cell, with noise", ("grid",), "cells"),
        Line("cells without a positive count are dropped", ("grid-centers",)),
        Line("weighted k-means on the middles of the others", ("grid-centers",)),
        Line("if a share is left, one step of Lloyd:", ("grid-lloyd",)),
        Line("  give each row to its nearest center", ("grid-lloyd",), "update"),
        Line("  add up rows and count them, with noise", ("grid-lloyd",), "update"),
        Line("  divide: noisy sums by noisy counts", ("grid-lloyd",)),
    ),
    "continual": (
        Line("lay a grid over the public bounds", ("partition",)),
        Line("declare how many days T there will be", ("partition",)),
        Line("every evening t = 1, ..., T:", ("day",)),
        Line("  take the last 1, 2, 4, ... days (divides t)", ("day",)),
        Line("  add up their rows cell by cell, with noise", ("day",), "table"),
        Line("  add a few older tables: all days 1 to t", ("day",)),
        Line("  weighted k-means on cells above their noise", ("day",)),
    ),
    "dp-em": (
        Line("spread k equal balls over the public bounds", ("mixture-start",)),
        Line("repeat a few rounds:", ("mixture",)),
        Line("  each row divides a share of 1 over them", ("mixture",), "update"),
        Line("  add up shares, offsets, and spreads; noise", ("mixture",), "update"),
        Line("  means move by noisy offsets over noisy shares", ("mixture",)),
        Line("  shapes follow the noisy spreads", ("mixture",)),
        Line("  what noise alone could stretch is made rounder", ("mixture",)),
    ),
    "dpm": (
        Line("begin with one region: the public box", ("region",), at=("first",)),
        Line("for each region, while it may be cut:", ("region",)),
        Line("  score every cut: few rows near, many beside", ("region",), "split"),
        Line("  pick one cut, better ones more often", ("region",), "split"),
        Line("  count both sides, with noise", ("region",), "count"),
        Line("  too few on a side: the region is final", ("region",), given="not accepted"),
        Line("average each final region, with noise", ("averages",), "average"),
        Line("if k is given: k-means on the averages", ("merge",)),
    ),
    "privtree": (
        Line("begin with one box: the public bounds", ("halving-level",), at=("first",)),
        Line("for every box, depth by depth:", ("halving-level",)),
        Line("  count its rows, less a bit for each depth", ("halving-level",), "tree", ("before",)),
        Line("  with noise above the threshold? Halve it", ("halving-level",), "tree", ("before",)),
        Line("count the rows of every leaf, with noise", ("halving-centers",), "leaves"),
        Line("leaves without a positive count are dropped", ("halving-centers",)),
        Line("weighted k-means on the leaves' middles", ("halving-centers",)),
    ),
    "dp-dbscan": (
        Line("lay a grid over the public bounds", ("density",)),
        Line("count the rows of every cell, with noise", ("density",), "cells"),
        Line("for each cell: add up the noisy counts around it", ("dense-cells",)),
        Line("  denser than rows spread evenly, and", ("dense-cells",)),
        Line("  above what noise alone would show: dense", ("dense-cells",)),
        Line("dense cells side by side make one region", ("spans",)),
        Line("rows in no region belong to no cluster", ("spans",)),
    ),
    "em-mc": (
        Line("lay finer and finer grids over the bounds", ("cover",), at=("first",)),
        Line("pick cells that hold many rows, with noise", ("cover",), "cover", ("before",)),
        Line("rows in a picked cell do not count again", ("cover",), "cover", ("later",)),
        Line("the middles of picked cells are candidates", ("cover",), at=("end",)),
        Line("each row votes for its nearest; noise", ("cover-votes",), "votes"),
        Line("weighted k-means on the candidates", ("cover-votes",)),
        Line("average the rows of each center, with noise", ("cover-means",), "average"),
    ),
    "lsh-splits": (
        Line("draw random hyperplanes: public", ("split-level",), at=("first",)),
        Line("repeat, level by level:", ("split-level",)),
        Line("  cut each bucket by the next hyperplane", ("split-level",), at=("read",)),
        Line("  count its halves, with noise", ("split-level",), "count"),
        Line("  too few: the bucket is cut no further", ("split-level",), given="not branched"),
        Line("average the rows of each bucket, with noise", ("split-means",), "sum"),
        Line("weighted k-means on the averages", ("split-means",)),
    ),
    "nsm": (
        Line("with enough rows: where is their mean?", ("mean",), "mean"),
        Line("how far do rows reach? A noisy histogram", ("radius",), "radius"),
        Line("with few rows: how far do most of them reach?", ("near",), "near"),
        Line("in which directions do they spread?", ("moment",), "moment"),
        Line(
            "count and average the rows near candidates", ("candidates",), "candidates", at=("before", "read", "after")
        ),
        Line("the same again where rows were found", ("zoom",), "zoom", at=("before", "read", "after")),
        Line("k-means with restarts on these noisy points", ("solve",)),
        Line("two to four times: how far do rows lie away?", ("correction",), "distances"),
        Line("  one step of Lloyd, clipped and damped", ("correction",), "step"),
        Line("  two centers in one group? Part them", ("correction",), given="split"),
    ),
    "stemmer-kaplan": (
        Line("repeat with other random tables:", ("buckets",)),
        Line("  near rows fall into the same bucket", ("buckets",), at=("before",)),
        Line("  keep buckets with a high noisy count", ("buckets",), "buckets"),
        Line("  average their rows, with noise", ("buckets",), "averages"),
        Line("  a next round: without the rows found so far", ("filter",)),
        Line("each row votes for the nearest average; noise", ("weights",), "weights"),
        Line("weighted k-means on the averages", ("choose",)),
    ),
    "stemmer-kaplan-swap": (
        Line("repeat with other random tables:", ("buckets",)),
        Line("  keep buckets with a high noisy count", ("buckets",), "buckets"),
        Line("  average their rows, with noise", ("buckets",), "averages"),
        Line("  a next round: without the rows found so far", ("filter",)),
        *_SWAPS,
    ),
    "stemmer-kaplan-shuffle": (
        Line("everybody randomizes at home, only a little", ("reports",)),
        Line("a shuffler mixes the reports: senders are hidden", ("reports",)),
        Line("  in which bucket are you? Randomized answer", ("reports",), "report"),
        Line("  keep buckets that many seem to name", ("reports",)),
        Line("  where in it? One random bit each", ("averages",), "report"),
        Line("which average is nearest? Randomized answer", ("weights",), "report"),
        Line("weighted k-means on the averages", ("choose",)),
    ),
    "stemmer-kaplan-local": (
        Line("everybody randomizes at home; then:", ("reports",)),
        Line("  in which bucket are you? Randomized answer", ("reports",), "report"),
        Line("  keep buckets that many seem to name", ("reports",)),
        Line("  where in it? One random bit each", ("averages",), "report"),
        Line("which average is nearest? Randomized answer", ("weights",), "report"),
        Line("weighted k-means on the averages", ("choose",)),
    ),
    "balcan": (
        Line("project columns; cover them with cubes", ("cubes",), at=("first",)),
        Line("halve cubes with a high noisy count", ("cubes",), "cubes"),
        Line("the middles of the cubes are candidates", ("cubes",), at=("end",)),
        *_SWAPS,
        *_RECOVER,
    ),
    "dist-dp": (
        Line("move every row by noise of size rho", ("noisy-points",), "points"),
        Line("lay coarse and fine grids over the noisy points", ("level",)),
        Line("count the fine cells again, with noise", ("level",), "cells"),
        Line("join cells to regions of enough rows", ("split",)),
        Line("count and average each region, with noise", ("regions",), "regions"),
        Line("weighted k-means on the averages", ("cluster",)),
    ),
    "dist-dp-region-means": (
        Line("move every row by noise of size rho", ("noisy-points",), "points"),
        Line("k-means on the noisy points makes many regions", ("noisy-points",)),
        Line("the regions' sizes follow from the noisy points", ("regions",)),
        Line("sum the rows of each region, with less noise", ("regions",), "sums"),
        Line("divide sums by sizes: region means", ("regions",)),
        Line("weighted k-means on the means", ("cluster",)),
    ),
    "dist-dp-random-points": (
        Line("for every row:", ("noisy-points",)),
        Line("  move it by noise of size rho", ("noisy-points",), "points"),
        Line("  bring it back into the bounds", ("noisy-points",)),
        Line("from here on no row is read:", ("cluster",)),
        Line("  the noisy points are released, one a person", ("cluster",)),
        Line("  plain k-means on the noisy points", ("cluster",)),
    ),
}


def lines_of(slug: str, kinds: Collection[str]) -> tuple[Line, ...]:
    """Return the lines of a run with steps of these kinds: the algorithm's, or of the one that ran in its place."""
    own = PSEUDOCODE[slug]
    if set(kinds) <= {kind for line in own for kind in line.kinds}:
        return own
    others = (lines for lines in PSEUDOCODE.values() if set(kinds) <= {kind for line in lines for kind in line.kinds})
    return next(others, own)
