"""Check clusterers from other libraries: they run like ours, state who vouches for them, and read no private data."""

import os
import pickle
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from dpviz.algorithms import add_programs, outside
from dpviz.algorithms.programs import program
from dpviz.cli import main
from dpviz.datasets import load_sample
from dpviz.figures import View, pane, plain, printed
from dpviz.figures.kit.mosaic import center_path
from dpviz.figures.kit.theme import LIGHT
from dpviz.postprocessing.beside import promises
from dpviz.postprocessing.verdict import private_verdict
from dpviz.privacy.guarantee import Notion
from dpviz.privacy.rows import Rows
from dpviz.runs.single import replay
from dpviz.sweeps.conclusion import conclusion
from dpviz.sweeps.processes import Pool
from dpviz.sweeps.report import report
from dpviz.sweeps.rowfile import read_rows
from dpviz.sweeps.summary import Summary
from dpviz.takeaway.code import script
from dpviz.takeaway.foreign import read
from dpviz.takeaway.label import badge, facts
from dpviz.takeaway.page import page
from dpviz.trace import Cancelled
from pages._ui.explore.form import picker
from pages._ui.explore.form.forms import may_be_noiseless
from pages._ui.explore.player.verdict import written
from pages._ui.explore.tradeoff import tables
from pages._ui.explore.tradeoff.view import without_curve
from pages._ui.teach.present import pictures

TOYS = "tests.outside.toy_clusterers"
WORDS = "claims by its authors, not checked here; its noise is not ours"
RUN = ["run", "tests-toy", "--outside", f"{TOYS}:Toy", "--n-clusters", "2"]


@pytest.fixture
def toy(registry, monkeypatch):
    """Return the algorithm class that `--outside` makes from the toy clusterer."""
    monkeypatch.setenv(outside.PROGRAMS, "")
    (slug,) = add_programs([f"{TOYS}:Toy"])
    return registry[slug]


@pytest.fixture
def tiny():
    return load_sample("tiny")


def fit(cls, data, seed=3, **values):
    return cls(**{"n_clusters": 2, **values}).run(data.X, domain=data.domain, seed=seed, dataset_id=data.dataset_id)


def test_a_run_says_whose_word_it_is_wherever_it_stands(toy, tiny):
    trace = fit(toy, tiny)
    low, high = -tiny.domain.box_z, tiny.domain.box_z
    expected = np.random.default_rng(3).uniform(low, high, (2, len(low)))
    assert np.allclose(trace.cluster_centers, tiny.domain.denormalize(expected)) and trace.parameters["epsilon"] == 1
    assert not trace.claimed.private and not trace.ledger and trace.claimed.epsilon == float("inf")
    for said in (
        str(trace.claimed), trace.notice, trace.warnings[0], toy.tagline.lower(), facts(trace)["Promise"],
        str(private_verdict(trace, tiny.columns, tiny.units)), page(trace), script(trace),
        picker.PROMISES[toy.notion][1].lower(), promises([trace, fit(toy, tiny, seed=4)])[0],
    ):  # fmt: skip
        assert WORDS in said, said
    assert badge(trace) == "NOT CHECKED HERE" and facts(trace)["In a bet"] == "not known here"
    assert read(trace.to_json()).to_json() == trace.to_json()


def test_its_centers_are_drawn_as_released_ones_beside_kmeans(toy, tiny):
    trace = fit(toy, tiny)
    assert pane(trace) is plain.PANE and center_path(trace)[0].shape == (2, len(tiny.columns))
    view = View(trace, LIGHT, (0, 1), tiny.columns, tiny.units, reference=np.zeros((2, len(tiny.columns))), hidden=True)
    assert any(panel.name == "plane" for panel in printed(view))
    assert len(replay(tiny, toy(n_clusters=2), 3).losses) == 1


def test_pages_say_it_under_the_picture_in_tables_and_in_a_talk(toy, tiny):
    trace = fit(toy, tiny)
    told = written(SimpleNamespace(trace=trace, data=tiny, reference=None), hidden=False)
    assert "Released: 2 centers." in told and f"Privacy: {WORDS}." in told and "exact" not in told
    assert WORDS in tables._promise(trace.claimed.notion, pd.DataFrame({"notion": [WORDS]}))
    assert pictures._bet(trace.claimed) == ("not known", f"{WORDS}.") and pictures._promise(trace.claimed) == WORDS


def test_it_is_listed_under_its_own_heading_and_never_for_private_data(toy):
    assert picker.offered(False)[-1] == "tests-toy" and "tests-toy" not in picker.offered(True)
    assert picker.named("tests-toy") == "Claimed · Toy of tests · not audited here" and not may_be_noiseless(toy)


@pytest.mark.parametrize("noise", ["secure", "none"])
def test_it_is_refused_where_noise_is_asked_of_us(toy, tiny, noise):
    with pytest.raises(ValueError, match="Toy of tests: noise must be 'seeded', because this algorithm"):
        toy(n_clusters=2).run(tiny.X, domain=tiny.domain, noise=noise, seed=None if noise == "secure" else 0)
    with pytest.raises(TypeError, match="reads raw rows"):
        toy(n_clusters=2).run(Rows(tiny.X, tiny.domain, "a"), seed=0)


@pytest.mark.parametrize("slug", ["tests-toy", "kmeans"])
def test_a_private_file_is_refused_before_it_is_read_or_booked(slug, toy, tmp_path, capsys):
    assert main(["run", slug, "--data", str(tmp_path / "is-not-there.csv"), "--private"]) == 2
    told = capsys.readouterr()
    assert "It is not run on private data; nothing was read." in told.err and told.err.count("\n") == 1 and not told.out


@pytest.mark.parametrize("command", ["audit", "plan", "explain"])
def test_commands_that_need_a_plan_refuse_it(command, registry, capsys):
    assert main([command, "nsm", "--outside", f"{TOYS}:Toy"]) == 2
    told = capsys.readouterr().err
    assert f"{command}: --outside names a program that sees the rows itself" in told and told.count("\n") == 1
    assert "tests-toy" not in registry


def test_run_prints_the_sentence_and_export_reads_it_back(registry, monkeypatch, tmp_path, capsys):
    monkeypatch.setenv(outside.PROGRAMS, "")
    file = tmp_path / "run.json"
    assert main([*RUN, "--data", "sample:tiny", "--json", str(file)]) == 0
    told = capsys.readouterr()
    assert f"claimed: {WORDS}" in told.out and WORDS in told.err and os.environ[outside.PROGRAMS] == f"{TOYS}:Toy"
    assert main([*RUN, "--data", "sample:tiny"]) == 0  # adding the same program again changes nothing
    label = ["export", str(file), "--outside", f"{TOYS}:Toy", "--as", "label", "-o", str(tmp_path / "label.html")]
    assert main(label) == 0 and WORDS in (tmp_path / "label.html").read_text()


SPEC = """
data = ["sample:tiny"]
algorithms = ["tests-toy"{others}]
n_clusters = 2
epsilon = [0.5, 1.0]
repeats = 2
"""


@pytest.mark.slow
def test_a_program_without_epsilon_has_a_mean_and_no_curve(registry, monkeypatch, tmp_path):
    monkeypatch.setenv(outside.PROGRAMS, "")
    spec, file = tmp_path / "spec.toml", tmp_path / "rows.csv"
    spec.write_text(SPEC.format(others=', "dp-lloyd"').replace("tests-toy", "tests-plain"))
    assert main(["sweep", str(spec), "-o", str(file), "--workers", "1", "--outside", f"{TOYS}:Plain"]) == 0
    rows = read_rows(file)
    points = Summary(rows, "loss", "epsilon").points
    (plain_one,) = points[points.algorithm == "tests-plain"].itertuples()
    assert (
        np.isnan(plain_one.epsilon) and conclusion(points[points.algorithm == "tests-plain"], "loss", "epsilon") == ""
    )
    words = without_curve(plain_one, SimpleNamespace(metric="loss", axis="epsilon"))
    assert "has no ε, so it has no curve; its mean is" in words and words.endswith("times KMeans'.")
    text = report(rows, "A sweep")
    assert WORDS in text and "Plain of tests" in text


@pytest.mark.slow
@pytest.mark.parametrize("others", [pytest.param("", marks=pytest.mark.slow), ', "dp-lloyd"'])
def test_a_sweep_never_ranks_it_without_the_sentence(others, registry, monkeypatch, tmp_path):
    monkeypatch.setenv(outside.PROGRAMS, "")
    spec, file = tmp_path / "spec.toml", tmp_path / "rows.csv"
    spec.write_text(SPEC.format(others=others))
    assert main(["sweep", str(spec), "-o", str(file), "--workers", "1", "--outside", f"{TOYS}:Toy"]) == 0
    rows = read_rows(file)
    mine = rows[rows.algorithm == "tests-toy"]
    assert list(mine.status) == ["ok"] * 4 and set(mine.notion) == {WORDS} and sorted(mine.epsilon) == [0.5, 0.5, 1, 1]
    text = report(rows, "A sweep")
    assert f"({WORDS}), Toy of tests did best" in text and f"<figcaption class=small>{WORDS}</figcaption>" in text
    assert text.count("<figure>") == (2 if others else 1) * text.count(f"<figcaption class=small>{WORDS}")


def test_what_has_no_seed_says_so_and_cannot_touch_the_data(registry, tiny):
    cls, before = program(f"{TOYS}:Plain"), tiny.X.copy()
    trace = fit(cls, tiny)
    assert np.allclose(trace.cluster_centers, tiny.X[:2]) and np.array_equal(tiny.X, before)
    assert "takes no random_state" in trace.warnings[1] and "epsilon" not in trace.parameters


BROKEN = {
    "Raises": "its fit failed with RuntimeError: no luck with 2 clusters.",
    "Flat": "its cluster_centers_ have the shape (2,), not (2, {d}).",
    "TooFew": "its cluster_centers_ have the shape (1, {d}), not (2, {d}).",
    "NotANumber": "its cluster_centers_ contain a number that is not finite.",
    "Forgets": "its fit failed with AttributeError: 'Forgets' object has no attribute 'cluster_centers_'.",
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_fit_that_breaks_is_one_sentence(name, tiny):
    with pytest.raises(ValueError) as caught:
        fit(program(f"{TOYS}:{name}"), tiny)
    assert str(caught.value) == f"{name} of tests: {BROKEN[name].format(d=len(tiny.columns))}"


REFUSED = {
    f"{TOYS}:NoK": "has no argument n_clusters.",
    f"{TOYS}:Needs": "needs the argument key, which dpviz does not pass.",
    f"{TOYS}:function": "is not a class with a fit method.",
    f"{TOYS}:Missing": "cannot be imported: AttributeError",
    "no_such_library:KMeans": "cannot be imported: ModuleNotFoundError: No module named 'no_such_library'.",
    "toys.py": "must be MODULE:CLASS",
    "os:getcwd()": "must be MODULE:CLASS",
}


@pytest.mark.parametrize("place", REFUSED)
def test_what_is_no_clusterer_is_refused_in_one_sentence(place, registry, monkeypatch, capsys):
    monkeypatch.setenv(outside.PROGRAMS, "")
    known = dict(registry)
    assert main(["run", "kmeans", "--outside", place, "--data", "sample:tiny"]) == 2
    told = capsys.readouterr().err
    assert REFUSED[place] in told and told.count("\n") == 1 and "Traceback" not in told
    assert registry == known and os.environ[outside.PROGRAMS] == ""


def test_a_second_program_of_one_slug_is_refused(toy, registry):
    registry["tests-toy"], outside.ORIGINS["tests-toy"] = registry["nsm"], outside.Origin("other:Toy", "")
    with pytest.raises(ValueError, match="NSM of other:Toy already has the slug 'tests-toy'"):
        add_programs([f"{TOYS}:Toy"])


def test_it_travels_to_other_processes(toy):
    assert pickle.loads(pickle.dumps(toy(n_clusters=3, epsilon=2.0))) == toy(n_clusters=3, epsilon=2.0)


def _fit(algorithm, data, on_step):
    on_step(1, 10)
    algorithm.run(data.X, domain=data.domain, seed=0, on_step=lambda step: on_step(step.n_releases, 10))


@pytest.mark.slow
def test_one_that_never_ends_is_canceled(registry, monkeypatch, tiny):
    monkeypatch.setenv(outside.PROGRAMS, "")
    (slug,) = add_programs([f"{TOYS}:Endless"])

    def impatient(done, total):
        if done:
            raise Cancelled

    workers = Pool(1)
    try:
        with pytest.raises(Cancelled):
            workers.run(_fit, registry[slug](n_clusters=2), tiny, look=impatient)
        assert workers.call(os.getpid) != os.getpid()
    finally:
        workers.stop()


def test_the_sentence_is_the_notion():
    assert str(Notion.CLAIMED) == WORDS and not Notion.CLAIMED.private and not Notion.NONE.private
