"""Check the worlds with and without Alex: they differ in this person only, and the same seed draws the same noise."""

import dataclasses

import numpy as np
import pytest

from dpviz.algorithms import ALGORITHMS
from dpviz.datasets import load
from dpviz.privacy.guarantee import Neighboring
from dpviz.runs.alex import Alex, clouds, neighbors, worlds


def test_in_and_out_differ_in_one_row_and_keep_the_declared_number():
    data = load("tiny")
    alex = Alex(data.X[3], 3)
    here, there, moved = neighbors(data, alex, Neighboring.ADD_REMOVE)
    assert moved is None and len(here.X) == len(there.X) + 1 and here.n_public == there.n_public == data.n_public
    np.testing.assert_array_equal(np.delete(here.X, alex.row, axis=0), there.X)
    place = data.domain.middle + 0.5
    here, there, _ = neighbors(data, Alex(place), Neighboring.ADD_REMOVE)
    np.testing.assert_array_equal(there.X, data.X)
    np.testing.assert_array_equal(here.X[-1], place)


def test_where_n_is_kept_alex_moves_by_rho_and_stays_in_bounds():
    data = load("tiny")
    alex = Alex(data.X[3], 3)
    here, there, moved = neighbors(data, alex, Neighboring.MOVE_RHO, 0.25)
    assert len(here.X) == len(there.X) == here.n_public and (here.X != there.X).any(axis=1).sum() == 1
    assert np.linalg.norm((moved - alex.place) / data.domain.half_width) == pytest.approx(0.25)
    assert (moved >= data.domain.low).all() and (moved <= data.domain.high).all()
    _, there, moved = neighbors(data, alex, Neighboring.MOVE_RHO, 50.0)
    np.testing.assert_allclose(moved, data.domain.middle)
    here, there, _ = neighbors(data, Alex(data.domain.low), Neighboring.MOVE_RHO, 0.25)
    assert len(here.X) == len(there.X) == here.n_public == len(data.X) + 1


def test_both_worlds_are_runs_like_any_other():
    data, steps = load("tiny"), []
    algorithm, alex = ALGORITHMS["sulloyd"](n_clusters=2), Alex(data.X[3], 3)
    found = worlds(data, algorithm, alex, 3, None, lambda done, every: steps.append((done, every)))
    out = np.delete(data.X, alex.row, axis=0)
    domain = dataclasses.replace(data.domain, n_public=data.n_public)
    np.testing.assert_array_equal(found.here.one, algorithm.run(data.X, domain=domain, seed=3).cluster_centers)
    np.testing.assert_array_equal(found.there.one, algorithm.run(out, domain=domain, seed=3).cluster_centers)
    assert steps == sorted(steps) and steps[-1] == (2, 2)
    steps.clear()
    here, there = clouds(data, algorithm, alex, range(4, 6), None, lambda done, every: steps.append((done, every)))
    assert here.seeds == (4, 5) and there.seeds == (6, 7)  # no seed is used twice
    np.testing.assert_array_equal(there.centers[1], algorithm.run(out, domain=domain, seed=7).cluster_centers)
    assert steps == sorted(steps) and steps[-1] == (4, 4)
    assert not np.array_equal(found.here.kmeans, found.there.kmeans)  # without noise, one person moves KMeans' centers


def test_private_rows_are_refused():
    data = load("ring")
    with pytest.raises(PermissionError):
        neighbors(dataclasses.replace(data, private=True), Alex(data.X[0], 0), Neighboring.ADD_REMOVE)
