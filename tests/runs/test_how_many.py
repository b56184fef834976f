"""Check what the rows of a public file say about k: the loss, the agreement of halves, and the sentence."""

import dataclasses

import numpy as np
import pytest

from dpviz.datasets import load
from dpviz.datasets.blobs import Blobs
from dpviz.metrics import normalized_loss
from dpviz.runs import how_many as module
from dpviz.runs.how_many import HowMany, how_many, told
from dpviz.runs.single import reference


def data(k, spread=0.5, n=400, **more):
    return Blobs(n_rows=n, n_clusters=k, spread=spread, **more).make()


@pytest.mark.slow
def test_halves_agree_most_on_the_number_of_clear_groups_and_the_loss_is_kmeans():
    for k in (2, 3, 6):
        rows = data(k)
        found = how_many(rows)
        assert len(found.loss) == len(found.agreement) == 12 and found.n_rows == found.of_rows == 400
        assert found.agreement[k - 1] > 0.99 and found.agreement[k:].max() < 0.95
        assert told(found, k).startswith(f"Halves of the rows agree most on {k} clusters, by 1 ")
        one, own = (normalized_loss(rows.X, reference(rows, m, 0).trace.cluster_centers, rows.domain) for m in (1, k))
        assert found.loss[k - 1] == pytest.approx(own / one, rel=0.01) and found.loss[0] == 1


def test_one_round_group_has_no_sure_number():
    found = how_many(data(1, 2.0))
    assert found.agreement[1:].max() < module.AGREE
    assert told(found, 3).startswith("No k from 2 to 12 is sure: ") and "at your k = 3 they agree by" in told(found, 3)


@pytest.mark.slow
def test_a_sample_of_many_rows_is_used_and_few_rows_ask_for_fewer_clusters(monkeypatch):
    monkeypatch.setattr(module, "ROWS", 200)
    found = how_many(data(3))
    assert (found.n_rows, found.of_rows) == (200, 400)
    np.testing.assert_array_equal(found.agreement, how_many(data(3)).agreement)  # drawn alike every time
    assert len(how_many(data(2, n=40)).loss) == 4
    few = dataclasses.replace(data(2), X=np.repeat(data(2).X[:2], 30, axis=0))  # only two different rows
    assert len(how_many(few).loss) == 2
    with pytest.raises(ValueError, match="10 rows are too few"):
        how_many(data(2, n=10))
    missing = data(2).X.copy()
    missing[:100, 0] = np.nan
    assert how_many(dataclasses.replace(data(2), X=missing)).of_rows == 300


def test_private_rows_are_never_asked():
    with pytest.raises(PermissionError, match="known only to a paid run"):
        how_many(dataclasses.replace(load("town"), private=True))


def test_the_sentence_names_the_best_k_the_other_sure_ones_and_ones_own():
    loss = np.array([1, 0.5, 0.25, 0.1, 0.09])
    found = HowMany(loss, np.array([1, 0.97, 0.6, 0.996, 0.3]), 100, 100)
    said = "Halves of the rows agree most on 4 clusters, by 1 (1 is the same, 0 is chance), also on 2; "
    assert told(found, 4) == told(found, 2) == told(found, 9) == f"{said}4 centers leave 10% of the loss of one."
    assert told(found, 3) == f"{said}4 centers leave 10% of the loss of one; at your k = 3 they agree by 0.6."
    tied = dataclasses.replace(found, agreement=np.array([1, 0.999, 0.6, 0.996, 0.3]))
    assert told(tied, 4) == told(found, 4)
    unsure = dataclasses.replace(found, agreement=np.array([1, 0.5, 0.6, 0.8, 0.3]))
    assert told(unsure, 4).startswith("No k from 2 to 5 is sure: halves of the rows agree most on 4 clusters, by 0.8 ")
