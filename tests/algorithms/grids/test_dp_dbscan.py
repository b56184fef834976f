"""Check DP-DBSCAN: it finds regions of any shape from noisy counts, and no ranking by loss includes it."""

import re

import numpy as np
import pytest
from scipy import ndimage
from sklearn.cluster import KMeans

from dpviz.algorithms import ALGORITHMS
from dpviz.algorithms.grids.dp_dbscan import DPDBSCAN, _joined, _nearby
from dpviz.datasets import load_sample
from dpviz.domain import Domain
from dpviz.figures import View
from dpviz.figures.grids import dp_dbscan
from dpviz.figures.kit.theme import LIGHT
from dpviz.postprocessing.regions import agreement, has_regions, labels_of
from dpviz.postprocessing.verdict import private_verdict, regions_verdict
from dpviz.runs.single import replay
from dpviz.sweeps.sweep import Sweep, Variant, execute
from tests.luck import same_luck


@pytest.mark.slow
@pytest.mark.parametrize("sample", ["ring", "moons"])
def test_it_finds_shapes_that_two_centers_cannot_part(sample):
    data = load_sample(sample)
    theirs = agreement(KMeans(2, n_init=4, random_state=0).fit(data.X).labels_, data.labels)
    runs = [DPDBSCAN(epsilon=1.0).run(data.X, domain=data.domain, seed=seed) for seed in range(5)]
    ours = [agreement(labels_of(trace, data.X), data.labels) for trace in runs]
    assert theirs < 0.3 and min(ours) > 0.9
    assert all(len(trace.cluster_centers) == 2 for trace in runs)


def test_cells_are_joined_side_by_side_as_scipy_joins_them():
    rng = np.random.default_rng(0)
    for shape in [(7,), (9, 8), (4, 5, 6), (2, 2, 2, 2)]:
        dense, counts = rng.random(shape) < 0.4, rng.normal(5, 3, shape)
        found, sizes = _joined(dense, counts, -np.inf, 256)
        labels, n = ndimage.label(dense)
        assert len(sizes) == n and (np.diff(sizes) <= 0).all()
        np.testing.assert_array_equal(found >= 0, dense.ravel())
        for i in range(n):
            inside = labels.ravel()[found == i]
            assert len(set(inside)) == 1 and (labels == inside[0]).sum() == len(inside)
            assert sizes[i] == pytest.approx(counts.ravel()[found == i].sum())
        kept, few = _joined(dense, counts, -np.inf, 1)
        assert len(few) == 1 and set(kept) <= {-1, 0}
        kept, clear = _joined(dense, counts, 9.0, 256)
        cells = np.bincount(kept[kept >= 0])
        assert len(clear) < max(n, 2) and (clear[1:] >= 9 * np.sqrt(cells[1:])).all()


def test_a_neighborhood_is_a_block_that_ends_at_the_bounds():
    counts = np.arange(20.0).reshape(4, 5)
    found = _nearby(counts, 1)
    assert found[1, 1] == counts[:3, :3].sum() and found[0, 0] == counts[:2, :2].sum()
    assert _nearby(np.ones((4, 5)), 2)[0, 0] == 9


def test_noise_alone_makes_no_region_in_19_of_20_runs():
    """With one finite row, only noise makes cells dense; most runs show just the fullest cell, with a warning."""
    domain = Domain.box(-1, 1, 2, n_public=2000)
    algorithm = DPDBSCAN(epsilon=0.5, density=0.25, cells=64)
    X = np.full((1, 2), np.nan)
    alone = 0
    for seed in range(60):
        rows = np.vstack([X, [[0.9, 0.9]]])
        trace = algorithm.run(rows, domain=domain, seed=seed)
        alone += bool(dp_dbscan.warning(trace))
    assert alone >= 54


def test_rows_outside_all_regions_have_no_region():
    data = load_sample("ring")
    trace = DPDBSCAN(epsilon=2.0).run(data.X, domain=data.domain, seed=0)
    far = np.array([[9.9, -9.9], [np.nan, 0.0], [7.0, 0.0], [0.0, 0.0]])
    found = labels_of(trace, far)
    assert found[:2].tolist() == [-1, -1] and found[2] >= 0 and found[3] >= 0 and found[2] != found[3]
    cells = np.asarray(trace.steps[0].released["cells"])
    np.testing.assert_array_equal(
        labels_of(trace, data.domain.denormalize(cells)), trace.steps[-1].released["span_of_cell"]
    )


def test_no_loss_is_shown_and_the_verdict_has_its_own_words(monkeypatch):
    data = load_sample("moons")
    run = replay(data, DPDBSCAN(epsilon=1.0), 0)
    assert np.isnan(run.losses).all() and has_regions(run.trace)
    kmeans = ALGORITHMS["kmeans"](n_clusters=2).run(data.X, domain=data.domain, seed=0).cluster_centers
    shown = str(regions_verdict(run.trace, data.X, data.labels, kmeans))
    assert "2 regions" in shown and "adjusted Rand index" in shown and "×" not in shown
    assert "of 100" in shown and regions_verdict(run.trace, data.X, data.labels, kmeans).good
    same_luck(monkeypatch)
    private = DPDBSCAN(epsilon=1.0).run(data.X, domain=data.domain, noise="secure")
    assert re.match(r"\d regions? · about [\d,]+", str(private_verdict(private, data.columns, data.units)))


@pytest.mark.slow
def test_a_sweep_measures_agreement_and_no_distance():
    variants = tuple(Variant(slug, slug) for slug in ("dp-dbscan", "nsm"))
    sweep = Sweep(
        data=("sample:moons",), variants=variants, epsilon=(2.0,), repeats=1, metrics=("loss", "ari", "accuracy")
    )
    found = {}
    for cell in sweep.runs():
        row = execute(cell)
        assert row["status"] == "ok", row["reason"]
        found[row["algorithm"]] = row
    ours = found["dp-dbscan"]
    assert ours["ari"] > 0.9 > found["nsm"]["ari"]
    assert ours["loss"] is None and ours["accuracy"] is None
    assert found["nsm"]["loss"] > 0


def test_borders_close_around_their_regions():
    data = load_sample("ring")
    trace = DPDBSCAN(epsilon=1.0).run(data.X, domain=data.domain, seed=0)
    table = dp_dbscan.border_table(trace)
    assert set(table.region) == {1, 2}
    for _, lines in table.groupby("region"):  # an even number of lines meets at every corner
        ends = np.round(np.vstack([lines[["x0", "y0"]], lines[["x1", "y1"]]]), 9)
        assert (np.unique(ends, axis=0, return_counts=True)[1] % 2 == 0).all()
    panels = dp_dbscan.PANE.panels(View(trace, LIGHT, (0, 1), data.columns, data.units))
    assert all(len(panel.figure.frames) == 3 for panel in panels) and "2 regions" in panels[0].alt


def test_a_grid_that_is_too_coarse_says_so():
    assert any("into 1 part, but regions of any shape need 4" in words for words in DPDBSCAN().advice(20, 2000))
    assert not DPDBSCAN().advice(2, 2000)
    wide = np.random.default_rng(0).uniform(-1, 1, (300, 70))
    trace = DPDBSCAN(epsilon=50.0).run(wide, domain=Domain.box(-1, 1, 70, n_public=300), seed=0)
    assert np.isfinite(trace.cluster_centers).all()
