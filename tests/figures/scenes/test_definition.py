"""Check the picture of the definition: areas by integration, bets by the promise, sentences by their numbers."""

import json
import math
import re

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import norm

from dpviz.figures.kit.theme import DARK, LIGHT
from dpviz.figures.scenes import definition
from dpviz.figures.scenes.definition import DELTAS, EPSILONS, PRIORS, cell_table, density_table, error_table, record
from dpviz.numbers import chance
from dpviz.postprocessing.bet import belief, odds_of_any
from dpviz.privacy.accounting import epsilon_of_mu


def test_the_picture_at_epsilon_1_and_delta_1_in_100_has_these_numbers():
    row = cell_table().iloc[EPSILONS.index(1.0) * len(DELTAS) + 2]
    assert [round(value, 4) for value in row] == [1, 0.01, 0.5325, 2.7183, 2.1441, 0.0535, 0.79, 0.605, 61, 74]


@pytest.mark.parametrize("row", cell_table().itertuples(), ids=lambda row: f"{row.epsilon:g} {row.delta:g}")
def test_areas_are_those_under_the_curves_that_are_drawn(row):
    def area(function, low, high):
        return quad(function, low, high, epsabs=1e-13, limit=200)[0]

    above = area(lambda x: norm.pdf(x - row.mu) - row.ratio * norm.pdf(x), row.line, 12)
    assert above == pytest.approx(row.delta, rel=1e-6)  # what exceeds the ratio adds up to delta
    assert norm.pdf(row.line - row.mu) / norm.pdf(row.line) == pytest.approx(math.exp(row.epsilon))
    assert area(lambda x: norm.pdf(x - row.mu), row.line, 12) == pytest.approx(row.beyond, rel=1e-6)
    shared = area(norm.pdf, row.mu / 2, 12) + area(lambda x: norm.pdf(x - row.mu), -12, row.mu / 2)
    assert shared == pytest.approx(row.overlap)
    assert row.wins == pytest.approx(1 - shared / 2)  # a bet wins half of what is shared and all of the rest
    assert row.odds == math.ceil(100 * row.wins) <= row.any
    assert epsilon_of_mu(row.mu, row.delta) == pytest.approx(row.epsilon)


def test_densities_and_errors_are_curves_of_one_gaussian_release():
    one = density_table(0.5, 2.0)
    assert one.both.tolist() == np.minimum(one.absent, one.present).tolist()
    assert one.times.tolist() == (2 * one.absent).tolist()
    assert one.present.tolist() == pytest.approx(norm.pdf(one.release, 0.5))
    assert one.absent.tolist() == pytest.approx(norm.pdf(one.release)) and one.release.iloc[-1] > 3
    errors = error_table(definition.promise(1.0, 0.01).mu, 1.0, 0.01)
    assert (errors.method >= errors["any"] - 1e-12).all() and (errors["any"] <= 1 - errors.alarm).all()
    assert norm.sf(norm.isf(0.3) - 0.5325) == pytest.approx(1 - np.interp(0.3, errors.alarm, errors.method), abs=1e-3)


@pytest.mark.parametrize("prior", PRIORS)
@pytest.mark.parametrize("epsilon", EPSILONS)
def test_belief_is_bayes_rule_for_the_release_on_the_line(epsilon, prior):
    row = cell_table().query("epsilon == @epsilon and delta == 0.01").iloc[0]
    there, away = prior * norm.pdf(row.line - row.mu), (1 - prior) * norm.pdf(row.line)
    assert belief(prior, epsilon) == pytest.approx(there / (there + away))
    said = "".join(definition._believed(epsilon, prior))
    stated = float(re.search(r"at most ([\d.]+) in 100", said)[1])
    assert 100 * belief(prior, epsilon) <= stated <= 100 * belief(prior, epsilon) * 1.1 and chance(prior) in said


def test_belief_from_even_odds_is_the_bet_of_pure_epsilon_and_a_bad_prior_is_refused():
    pure = definition.Guarantee(definition.Notion.CENTRAL, definition.Neighboring.ADD_REMOVE, 1.0, 0.0)
    assert belief(0.5, 1.0) == pytest.approx(pure.best_bet) and odds_of_any(pure) == 74
    assert belief(0.0, 5.0) == 0 and belief(1.0, 5.0) == 1
    with pytest.raises(ValueError, match=r"prior must be a probability, from 0 to 1; got 1\.5"):
        belief(1.5, 1.0)


def test_every_place_of_the_sliders_has_its_frame_and_its_sentences():
    given = record(LIGHT)
    cells = len(EPSILONS) * len(DELTAS)
    assert [len(json.loads(text)["frames"]) for text in given["figures"]] == [cells, cells]
    assert len(given["cells"]) == cells and [len(line) for line in given["beliefs"]] == [len(PRIORS)] * len(EPSILONS)
    assert list(map(len, given["stops"])) == [len(EPSILONS), len(DELTAS), len(PRIORS)]
    for row, cell in zip(cell_table().itertuples(), given["cells"], strict=True):
        ratio, area, overlap = ("".join(parts) for parts in cell["words"])
        assert chance(row.beyond) in ratio and chance(row.delta) in area
        assert f"share {100 * row.overlap:.0f}%" in overlap and f"most {row.odds} times in 100" in overlap
        assert overlap.endswith(f"δ: {row.any}.") and all(len(parts) % 2 for parts in cell["words"])
    assert LIGHT.released in given["figures"][0] and DARK.released in record(DARK)["figures"][0]
    assert len(json.dumps(given)) < 400_000
