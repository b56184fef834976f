"""Check that captions are conclusions: a title says what a run shows, an accessible name what kind of figure it is."""

import numpy as np
import pytest

from dpviz.figures import pane
from dpviz.figures.kit.theme import theme
from dpviz.figures.kit.view import View
from dpviz.metrics import loss_path, run_loss
from dpviz.numbers import counted, number, ratio_words
from tests.figures.panes import ONE_OF_A_PANE
from tests.traces import MADE, trace

SETS = ("blobs", *(pytest.param(name, marks=pytest.mark.slow) for name in ("outside", "six features")))
KINDS = ("A ", "The ", "Bars: ", "Lines: ", "Curves: ", "Dots: ")  # accepted beginnings of accessible names


def last(run, name):
    return next(step.released[name] for step in reversed(run.steps) if name in step.released)


def plane(slug, run):  # noqa: C901 - one branch a pane
    """Return the caption that a run's plane should have, counted here from released values."""
    k, d = len(run.cluster_centers), run.domain.n_features
    kinds = [step.kind for step in run.steps]
    centers = counted(k, "center")
    if slug in ("pe-means", "aug-pe"):
        return f"In the end {last(run, 'kept').sum()} of {len(last(run, 'population'))} trial points give {centers}"
    if slug == "hdpe-means":
        shape = last(run, "population").shape
        return f"{last(run, 'kept').sum()} of {shape[0]} trial points survive in {shape[1]} projected columns"
    if slug == "kmeans":
        return f"{centers} after {counted(len(kinds), 'step')}"
    if slug in ("fastlloyd", "choose-k"):
        moves = [step.released for step in run.steps if "raw" in step.released]
        short = sum(int((np.abs(move["raw"] - move["clipped"]).max(axis=1) > 0).sum()) for move in moves)
        beside = f"; {counted(short, 'move')} shortened" if short else ""
        return f"{centers} after {counted(len(moves), 'noisy iteration')}{beside}"
    if slug == "eugkm":
        counts = run.steps[0].released["noisy_counts"]
        return f"Noise leaves {np.sum(counts > 0)} of {len(counts)} counts above 0"
    if slug == "continual":
        cells = len(last(run, "coreset_points"))
        return f"Day {kinds.count('day')}: {counted(cells, 'noisy cell')} {'gives' if cells == 1 else 'give'} {centers}"
    if slug == "dp-em":
        dead = int(last(run, "dead").sum())
        rows = f"{dead} of {k} Gaussians {'has' if dead == 1 else 'have'} no" if dead else f"All {k} Gaussians have"
        return f"{rows} rows of their own"
    if slug == "dpm":
        leaves = [step.released["accepted"] for step in run.steps if step.kind == "region"]
        cuts = sum(leaves)
        return f"{counted(cuts, 'cut')} leave{'s' * (cuts == 1)} {counted(len(leaves) - cuts, 'region')}"
    if slug == "privtree":
        n = len(last(run, "leaves"))
        return f"{counted(n, 'final box', 'final boxes')} give{'s' * (n == 1)} {centers}"
    if slug == "dp-dbscan":
        dense, regions = last(run, "dense"), len(last(run, "noisy_counts"))
        verb = "forms" if dense.sum() == 1 else "form"
        return f"{counted(int(dense.sum()), 'dense cell')} of {len(dense)} {verb} {counted(regions, 'region')}"
    if slug == "em-mc":
        cells = sum(len(step.released["cells"]) for step in run.steps if step.kind == "cover")
        return f"{counted(cells, 'picked cell')} lead to {centers}"
    if slug == "lsh-splits":
        n = len(last(run, "points"))
        return f"{counted(n, 'bucket')} give{'s' * (n == 1)} {centers}"
    if slug == "mst-kmeans":
        return f"{len(last(run, 'rows')):,} synthetic rows give {centers}"
    if slug == "nsm":
        points = counted(len(last(run, "weights")), "noisy point")
        return f"{points} and {counted(kinds.count('correction'), 'correction')} give {centers}"
    if slug.startswith("stemmer-kaplan"):
        n = len(last(run, "candidates"))
        return f"{counted(n, 'candidate')} give{'s' * (n == 1)} {centers}" if n else f"No cell is crowded; {centers}"
    assert slug == "dist-dp" and d
    return f"Moves up to {run.domain.length(run.steps[0].released['rho'])} are hidden; {centers}"


@pytest.mark.parametrize("sample", SETS)
@pytest.mark.parametrize("slug", ONE_OF_A_PANE)
def test_titles_say_what_this_run_shows_and_names_say_what_kind_of_figure_it_is(slug, sample):
    if slug == "dist-dp":  # one scale for all columns, so rho is one length
        columns = 6 if sample == "six features" else 2
        sample = f"two groups, {columns} columns"
    run, X = trace(slug, sample, n_clusters=3, rho_distance=0.05), MADE[sample]
    best = run_loss(run, X, np.asarray(trace("kmeans", sample, n_clusters=3).cluster_centers))
    losses = loss_path(run, X)
    d = run.domain.n_features
    seen = View(
        run, theme("light"), (0, 1), [f"c{i}" for i in range(d)], [""] * d, people=X, losses=losses,
        reference_loss=best, reference=np.asarray(trace("kmeans", sample, n_clusters=3).cluster_centers), hidden=True,
    )  # fmt: skip
    found = pane(run).panels(seen)
    titles = [panel.figure.layout.title.text for panel in found]
    assert titles[0] == plane(slug, run)
    assert len(set(titles)) == len(titles) and all(len(title) <= 60 for title in titles)
    assert all(panel.alt.startswith(KINDS) for panel in found), [panel.alt for panel in found]
    if slug in ("pe-means", "fastlloyd", "eugkm", "nsm", "dp-em"):
        assert f"Loss ends at {ratio_words(losses[-1] / best)} × KMeans" in titles
        spent = f"{counted(len(run.ledger), 'release')}: ε {number(run.spent.epsilon)}"
        assert any(title.startswith(spent) for title in titles)
