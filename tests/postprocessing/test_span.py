"""Check that the plane onto which many columns are projected depends on released centers alone."""

import dataclasses

import numpy as np
import pytest

from dpviz.algorithms import ALGORITHMS
from dpviz.domain import Domain
from dpviz.figures.kit.theme import LIGHT
from dpviz.figures.kit.view import View
from dpviz.postprocessing.span import span_of, widest

DOMAIN = Domain.box([0, 0, 0, 0, 0], [1, 100, 10, 1, 1], n_public=200)
CENTERS = DOMAIN.denormalize(np.random.default_rng(1).uniform(-1, 1, (4, 5)))


def run(n, seed):
    X = DOMAIN.denormalize(np.random.default_rng(seed).uniform(-1, 1, (n, 5)))
    return ALGORITHMS["pe-means"](n_clusters=4).run(X, domain=DOMAIN, seed=seed)


def test_the_two_columns_with_the_most_spread_between_centers_are_drawn():
    apart = np.tile([0.5, 50, 5, 0.5, 0.5], (2, 1))
    # the second column has a wider spread than the first in absolute terms, but a narrower one relative to its bounds
    apart[:, :3] = [[0.1, 49.0, 1.0], [0.9, 51.0, 9.0]]
    assert widest(dataclasses.replace(run(200, 0), cluster_centers=apart)) == (0, 2)


def test_other_rows_with_the_same_released_centers_have_the_same_axes_and_ranges():
    seen = []
    for n, seed in ((200, 0), (150, 1)):
        trace = dataclasses.replace(run(n, seed), cluster_centers=CENTERS)
        view = View(trace, LIGHT, None, "abcde", [""] * 5)
        probe = view.flat(DOMAIN.denormalize(np.eye(5)))
        seen.append((view.axis_titles(), [edge.tobytes() for edge in view.bounds()], probe.tobytes()))
    assert seen[0] == seen[1]


def test_the_directions_are_the_principal_ones_and_the_range_holds_every_center():
    span, turned = span_of(DOMAIN, CENTERS), span_of(DOMAIN, -CENTERS + 2 * DOMAIN.middle)
    Z = DOMAIN.normalize(CENTERS)
    spread = np.linalg.eigvalsh(np.cov(Z.T))[::-1]
    assert span.flat(Z).var(axis=0, ddof=1) == pytest.approx(spread[:2])
    assert (span.flat(Z) >= span.low).all() and (span.flat(Z) <= span.high).all()
    assert span.flat(span.lift(np.array([0.3, -0.1]))) == pytest.approx([0.3, -0.1])  # A click returns its point.
    for row, other in zip(span.directions, turned.directions, strict=True):  # A direction's sign is arbitrary.
        assert max(row, key=abs) > 0 and other == pytest.approx(row)


@pytest.mark.parametrize("distinct", [0, 1, 2])
def test_fewer_than_three_distinct_centers_span_a_plane_with_the_help_of_columns(distinct):
    span = span_of(DOMAIN, np.repeat(CENTERS[:distinct], 2, axis=0))
    directions = np.array(span.directions)
    assert directions @ directions.T == pytest.approx(np.eye(2))
    assert np.isfinite([*span.low, *span.high]).all() and (np.array(span.low) < span.high).all()
    if distinct < 2:  # the plane is then the declared box of the first two columns
        assert directions.tolist() == np.eye(5)[:2].tolist()
        assert np.subtract(span.high, span.low) == pytest.approx([2, 2])


def test_a_length_on_the_plane_is_true_if_all_columns_share_a_scale():
    domain = Domain.box([0, 0, 0], [8, 8, 4], n_public=50, scale="common")
    centers = np.array([[1.0, 1, 1], [7, 1, 1], [1, 5, 1], [4, 4, 1]])
    flat = span_of(domain, centers).flat(domain.normalize(centers))
    assert np.linalg.norm(flat[1] - flat[2]) == pytest.approx(np.linalg.norm(centers[1] - centers[2]))
