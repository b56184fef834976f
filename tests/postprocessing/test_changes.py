"""Check what `compare` says of two releases: matched centers, differences beyond the noise, and the joint promise."""

import dataclasses
import json
import math

import numpy as np
import pytest

from dpviz.algorithms import ALGORITHMS
from dpviz.cli import main
from dpviz.domain import Domain
from dpviz.postprocessing.changes import LEVEL, changes, together
from dpviz.privacy.accounting import epsilon_of_mu
from dpviz.takeaway.changes import changes_page

MIDDLES = np.array([[-0.6, -0.6], [0.6, -0.5], [0.0, 0.6]])
SIZES = (500, 900, 600)
DOMAIN = Domain.box(-1, 1, 2, n_public=2000, columns=("east", "north"), units=("km", ""))


def rows(shift=0.0, middles=MIDDLES, sizes=SIZES):
    rng = np.random.default_rng(5)
    X = np.concatenate([rng.normal(m, 0.06, (n, 2)) for m, n in zip(middles, sizes, strict=True)])
    X[: sizes[0], 0] += shift
    return X


def run(seed, X=None, slug="nsm", domain=DOMAIN, **values):
    given = {"n_clusters": 3, "epsilon": 1.0} | values
    return ALGORITHMS[slug](**given).run(rows() if X is None else X, domain=domain, seed=seed)


def found(first, second):
    return changes(first, second, first.domain.columns, first.domain.units)


def beyond(result):
    return {(pair.first, change.name) for pair in result.pairs for change in pair.changes if change.beyond}


def test_equal_runs_differ_within_the_noise_and_every_number_is_the_cards_own():
    result = found(run(0), run(1))
    assert not beyond(result) and result.only == ((), ()) and result.n_known == 9
    assert result.sentences[0] == "No difference is beyond the noise of both runs (95% over all 9)."
    first = np.asarray(run(0).cluster_centers)
    for pair in result.pairs:
        east, north, size = pair.changes
        assert east.name == "east" and east.before.endswith(" km") and " ± " in east.before and size.name == "size"
        assert east.facts[0].value == first[pair.first - 1, 0]
        assert east.sd == pytest.approx(math.hypot(east.facts[0].sd, east.facts[1].sd))
        assert north.verdict == "within the noise" and size.difference.endswith("rows")


@pytest.mark.slow
@pytest.mark.parametrize("slug", ["nsm", "eugkm"])
def test_noise_alone_is_beyond_the_noise_in_five_of_a_hundred_pairs_at_most(slug):
    """Groups are as many as centers and lie apart, where the stated noise is all that differs between two runs."""
    X, pairs = rows(), 200
    wrong = sum(bool(beyond(found(run(2 * s, X, slug), run(2 * s + 1, X, slug)))) for s in range(pairs))
    assert wrong <= pairs * LEVEL + 3 * math.sqrt(pairs * LEVEL * (1 - LEVEL))


def test_a_planted_shift_and_a_grown_group_are_found_and_nothing_else():
    start = run(0)
    moved = int(np.asarray(start.cluster_centers)[:, 0].argmin()) + 1
    assert beyond(found(start, run(1, rows(shift=0.1)))) == {(moved, "east")}
    grown = found(start, run(1, rows(sizes=(900, 900, 600))))
    assert beyond(grown) == {(moved, "size")} and "1 of 9 differences is beyond" in grown.sentences[0]
    assert "cut the same rows elsewhere" in grown.sentences[1] and "by chance" in grown.sentences[-1]


def test_centers_in_another_order_are_matched_by_place():
    first, second = run(0), run(1)
    turned = dataclasses.replace(second, cluster_centers=second.cluster_centers[::-1], from_file=False)
    last = dict(second.steps[-1].released)
    for name in ("centers", "center_sd", "noisy_counts"):
        last[name] = np.asarray(last[name])[::-1]
    turned = dataclasses.replace(
        turned, steps=(*second.steps[:-1], dataclasses.replace(second.steps[-1], released=last))
    )
    straight, backward = found(first, second), found(first, turned)
    assert [pair.second for pair in backward.pairs] == [4 - pair.second for pair in straight.pairs]
    assert [pair.changes for pair in backward.pairs] == [pair.changes for pair in straight.pairs]
    for pair in straight.pairs:
        a, b = first.cluster_centers[pair.first - 1], second.cluster_centers[pair.second - 1]
        assert np.abs(a - b).max() < 0.1


def test_another_k_one_center_and_unknown_noise():
    more = found(run(0), run(1, n_clusters=2))
    assert len(more.only[0]) + len(more.pairs) == 3 and len(more.only[0]) >= 1
    assert any("different numbers of centers" in note for note in more.notes)
    assert any(sentence.startswith("Without a partner: ") and "of A" in sentence for sentence in more.sentences)
    one = found(run(0, n_clusters=1), run(1, n_clusters=1))
    assert [(pair.first, pair.second) for pair in one.pairs] == [(1, 1)] and one.n_known == 3 and not beyond(one)
    unknown = found(run(0, slug="pe-means"), run(1))
    assert all(change.beyond is None for pair in unknown.pairs for change in pair.changes[:2])
    assert "A, PE-means, states no noise of its centers." in unknown.notes
    assert any("A is PE-means and B is NSM" in note for note in unknown.notes)


@pytest.mark.parametrize(
    ("domain", "words"),
    [
        (
            dataclasses.replace(DOMAIN, columns=("east", "up")),
            "the columns differ: east, north in A, and east, up in B",
        ),
        (
            dataclasses.replace(DOMAIN, columns=()),
            "the columns differ: east, north in A, and 2 columns without names in B",
        ),
        (dataclasses.replace(DOMAIN, units=("mi", "")), "the units of the columns differ"),
        (
            Domain.box([-1, -1], [1, 2], columns=DOMAIN.columns, units=DOMAIN.units, n_public=2000),
            "bounds of north differ",
        ),
        (dataclasses.replace(DOMAIN, radius=1.2), "measure distances differently"),
    ],
)
def test_runs_that_cannot_be_compared_are_one_sentence(domain, words, tmp_path, capsys):
    paths = [tmp_path / "a.json", tmp_path / "b.json"]
    for path, trace in zip(paths, (run(0), run(1, domain=domain)), strict=True):
        path.write_text(trace.to_json())
    assert main(["compare", *map(str, paths)]) == 2
    told = capsys.readouterr()
    assert words in told.err and told.err.count("\n") == 1 and not told.out


@pytest.mark.slow
def test_regions_exact_runs_the_same_run_and_broken_files_are_one_sentence(tmp_path, capsys):
    good = run(0)
    (tmp_path / "a.json").write_text(good.to_json())
    forged = json.loads(run(1).to_json())
    sd = forged["steps"][-1]["released"]["items"]["center_sd"]
    sd["values"] = [-1.0 for _ in sd["values"]]
    cases = {
        "both files hold the same run": good.to_json(),
        "released regions": run(0, slug="dp-dbscan").to_json() if "dp-dbscan" in ALGORITHMS else "",
        "holds no centers": ALGORITHMS["kmeans"](n_clusters=3).run(rows(), domain=DOMAIN, seed=0).to_json(),
        "the text is not JSON": "{",
        "noise or sizes are not those": json.dumps(forged),
        "cannot be read": None,
    }
    for words, text in cases.items():
        (tmp_path / "b.json").unlink(missing_ok=True)
        if text is not None:
            (tmp_path / "b.json").write_text(text)
        assert main(["compare", str(tmp_path / "a.json"), str(tmp_path / "b.json")]) == 2, words
        told = capsys.readouterr()
        assert words in told.err and told.err.count("\n") == 1 and not told.out, told.err


def test_the_joint_promise_composes_as_an_account_does():
    first, second = run(0), run(1, epsilon=2.0)
    mu = math.hypot(first.claimed.mu, second.claimed.mu)
    assert f"μ {mu:.3g}" in (said := together(first, second)) and said.startswith("As releases, the two would promise")
    assert f"ε {epsilon_of_mu(mu, first.claimed.delta + second.claimed.delta):.4g}, " in said
    assert "a person in both files, for one row added or removed in each" in said and "known seed" in said
    pure = together(run(0, slug="eugkm"), run(1, slug="eugkm", epsilon=2.0))
    assert "ε 3, δ 0" in pure and "μ" not in pure
    several = dataclasses.replace(DOMAIN, rows_per_person=2)
    twice = together(run(0, domain=several, slug="eugkm"), run(1, slug="eugkm"))
    assert "a person with up to 2 rows in each file" in twice and "ε 4, δ 0" in twice
    local = together(run(0, slug="eugkm"), run(1, slug="stemmer-kaplan-local"))
    assert "one row changed to any value in each" in local and "ε 3, δ 0" in local
    exact = ALGORITHMS["nsm"](n_clusters=3).run(rows(), domain=DOMAIN, seed=0, noise="none")
    assert together(first, exact) == "B promises nothing, so the two runs promise nothing together."


def test_the_command_prints_the_table_and_writes_one_closed_page(tmp_path, capsys):
    hostile = dataclasses.replace(DOMAIN, columns=("<script>alert(1)</script>", "north"))
    traces = [run(0, domain=hostile), run(1, rows(shift=0.1), domain=hostile)]
    for name, trace in zip(("a.json", "b.json"), traces, strict=True):
        (tmp_path / name).write_text(trace.to_json())
    page = tmp_path / "changes.html"
    assert main(["compare", str(tmp_path / "a.json"), str(tmp_path / "b.json"), "--html", str(page)]) == 0
    out = capsys.readouterr().out
    assert out.count("within the noise") == 8 and out.count("beyond the noise\n") == 1 and "Together" not in out
    text = page.read_text()
    assert "<script" not in text and "&lt;script&gt;alert" in text
    assert "://" not in text.replace("http://www.w3.org/2000/svg", "") and "src=" not in text
    assert text.count("<svg") == 3 and text.count("marker-end") == 1 and text.count("simulation") == 1
    assert changes_page(traces, found(*traces)).count("<tr") == 10
    assert main(["compare", str(tmp_path / "a.json"), str(tmp_path / "b.json"), "--html", str(tmp_path)]) == 2
    assert "cannot be written" in (told := capsys.readouterr()).err and not told.out
