"""Check the trade-off in tables (against hand-made rows), in figures and in a report."""

import ast
import datetime
import json
import re
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

from dpviz.algorithms import ALGORITHMS
from dpviz.cli import main
from dpviz.datasets import load_sample
from dpviz.figures.kit.theme import DARK, LIGHT
from dpviz.figures.scenes import tradeoff
from dpviz.metrics import normalized_loss
from dpviz.postprocessing.people import simulate
from dpviz.privacy.accounting import epsilon_of_mu
from dpviz.sweeps import estimate
from dpviz.sweeps.conclusion import area_words, conclusion, dots_words, heat_words, steadiness
from dpviz.sweeps.report import against_published, report
from dpviz.sweeps.rowfile import RowFile, table
from dpviz.sweeps.spec import Published, to_script
from dpviz.sweeps.summary import Summary
from dpviz.sweeps.sweep import Sweep, Variant, execute
from dpviz.trace import Coreset
from tests.sweeps.handmade import ROOT, row, rows, runs

EPSILONS = (1.0, 2.0)


def kmeans(loss=1.0, **more):
    return row("kmeans", None, 0, loss, notion="none", **more)


PE = {1.0: [2.0, 3.0, 4.0], 2.0: [1.0, 1.1, 1.2]}


def test_points_are_means_with_a_t_interval_beside_kmeans():
    found = Summary(rows(kmeans(0.5), runs("pe-means", PE)), "loss").points.set_index("epsilon")
    assert found["mean"].tolist() == [3.0, pytest.approx(1.1)] and found.ratio[1.0] == pytest.approx(6.0)
    factor = np.exp(4.302653 / np.sqrt(3) / 3)  # t quantile (2 degrees of freedom), sd 1, mean 3, on the log scale
    assert found.low[1.0] == pytest.approx(3 / factor, rel=1e-5)
    assert found.high[1.0] == pytest.approx(3 * factor, rel=1e-5)
    other = rows(kmeans(), [row("pe-means", 1.0, s, 1.0, silhouette=value) for s, value in enumerate((-1, 0, 1))])
    plain = Summary(other, "silhouette").points.iloc[0]  # silhouette is not relative to KMeans and may be negative
    assert (plain.low, plain.high) == pytest.approx((-4.302653 / np.sqrt(3), 4.302653 / np.sqrt(3)), rel=1e-5)
    single = Summary(rows(kmeans(), runs("pe-means", {1.0: [2.0]})), "loss").points
    assert np.isnan(single.low[0]) and single.runs[0] == 1


def test_no_interval_goes_below_what_is_possible():
    wide = {1.0: [1.0, 1.0, 4.0], 2.0: [0.9, 1.0, 4.0]}
    found = Summary(rows(kmeans(), runs("pe-means", wide)), "loss").points.set_index("epsilon")
    assert found.low.tolist() == [1.0, 0.9]  # KMeans' loss is 1; at ε 2, one run has a lower loss, .9
    area = Summary(rows(kmeans(), runs("pe-means", {e: [1.0, 1.0, 4.0] for e in EPSILONS})), "loss").areas.iloc[0]
    assert area.low == 1.0 < area.area < area.high


def test_a_step_upward_is_called_noise_unless_the_seeds_agree_on_it():
    noisy = {1.0: [1.2, 1.0, 1.1, 1.3], 2.0: [1.0, 1.3, 1.3, 1.2], 4.0: [1.0, 1.0, 1.0, 1.0]}
    firm = {1.0: [1.1, 1.2, 1.3, 1.4], 2.0: [1.3, 1.41, 1.5, 1.6], 4.0: [1.0, 1.0, 1.0, 1.0]}
    still = {1.0: [1.1, 1.2, 1.3, 1.4], 2.0: [1.1, 1.2, 1.3, 1.405], 4.0: [1.0, 1.0, 1.0, 1.0]}
    every = rows(kmeans(), runs("pe-means", noisy), runs("nsm", firm), runs("fastlloyd", still))
    turns = Summary(every, "loss").turns.set_index("algorithm")
    assert turns.sure.to_dict() == {"nsm": True, "pe-means": False}  # FastLloyd's rise of less than 1% is not counted
    assert (turns.start["nsm"], turns.end["nsm"], turns.runs["nsm"]) == (1.0, 2.0, 4)
    assert turns.change["nsm"] == pytest.approx(5.81 / 5.0 - 1)
    firmly, noisily = steadiness(Summary(every, "loss").turns, "epsilon")
    assert "more than the noise of 4 runs" in firmly and "within the noise of 4 runs" in noisily


@pytest.mark.parametrize(
    ("losses", "said"),
    [
        (([3.0, 1.0, 1.0], [3.0, 1.3, 1.0]), "At ε 1 one of two methods is within 10% of KMeans"),
        (([3.0, 1.0, 1.0], [3.0, 1.0, 1.0]), "At ε 1 both methods are within 10% of KMeans"),
        (([1.0, 1.0, 1.0], [1.1, 1.0, 1.0]), "From ε ¼ upward both methods are within 10% of KMeans"),
        (([3.0, 2.0, 1.0], [3.0, 2.0, 1.0]), "At ε 1 none of two methods is within 10% of KMeans"),
    ],
)
def test_the_title_is_computed_from_the_curves(losses, said):
    lists = [
        runs(slug, {e: [loss] for e, loss in zip((0.25, 1.0, 4.0), some, strict=True)})
        for slug, some in zip(("pe-means", "nsm"), losses, strict=True)
    ]
    many = runs("dpm", {e: [9.0] for e in (0.25, 1.0, 4.0)}, found=9)  # runs with more centers than k are not counted
    assert conclusion(Summary(rows(kmeans(), *lists, many), "loss").points, "loss", "epsilon") == said


def test_the_reference_is_the_one_with_the_same_k_and_rows():
    found = Summary(
        rows(kmeans(1.0), kmeans(0.5, k=5), runs("pe-means", PE), runs("pe-means", PE, k=5, found=5)), "loss"
    ).points
    assert set(zip(found.n_clusters, found.reference, strict=True)) == {(3, 1.0), (5, 0.5)}
    assert set(found.series) == {"PE-means, k = 3", "PE-means, k = 5"}


def test_a_series_is_named_by_what_varies_beside_its_axis():
    lists = [runs("pe-means", PE, n=n, delta=1 / n) for n in (10, 100)]
    data = rows(kmeans(n=10), kmeans(n=100), *lists)
    assert set(Summary(data, "loss").points.series) == {"PE-means, n = 10", "PE-means, n = 100"}  # delta follows n
    assert set(Summary(data, "loss", "n_rows").points.series) == {"PE-means, ε = 1", "PE-means, ε = 2"}
    two = rows(kmeans(), runs("pe-means", PE), runs("pe-means", PE, delta=1e-6))
    assert set(Summary(two, "loss").points.series) == {"PE-means, δ = 1 in 100,000", "PE-means, δ = 1 in 1,000,000"}


def test_areas_are_one_per_complete_seed_relative_to_kmeans():
    some = runs("pe-means", PE)[:-1]  # seed 2 has no run at epsilon 2
    found = Summary(rows(kmeans(0.5), some), "loss").areas.iloc[0]
    assert found.runs == 2
    assert found.area == pytest.approx(np.mean([(2 + 1.0) / 2, (3 + 1.1) / 2]) / 0.5)


def test_a_winner_needs_intervals_apart_equal_k_and_the_same_promise():
    worse = {1.0: [8.0, 9.0, 10.0], 2.0: [1.15, 1.1, 1.0]}
    found = Summary(
        rows(kmeans(), runs("pe-means", {1.0: [2.0, 2.1, 2.2], 2.0: PE[2.0]}), runs("nsm", worse)), "loss"
    ).winners
    assert found.set_index("epsilon").best.to_dict() == {1.0: "PE-means", 2.0: ""}
    many = runs("dpm", {1.0: [0.1, 0.1, 0.1]}, found=9)
    found = Summary(rows(kmeans(), runs("pe-means", PE), runs("nsm", worse), many), "loss").winners
    assert "DPM" not in set(found.best) | set(found.second)
    other = runs("nsm", {1.0: [0.1, 0.1, 0.1]}, notion="rho-distance DP")
    assert Summary(rows(kmeans(), runs("pe-means", PE), other), "loss").winners.empty


def test_smallest_is_the_least_value_from_which_on_every_larger_one_does():
    losses = {0.5: [1.0, 1.0], 1.0: [1.0, 3.0], 2.0: [1.05, 1.0], 4.0: [1.1, 1.0]}
    data = rows(kmeans(), runs("pe-means", losses), runs("nsm", {e: [5.0, 5.0] for e in losses}))
    found = Summary(data, "loss").smallest(within=0.1, share=1.0).set_index("label")
    assert found["least"]["pe-means"] == 2.0 and found.good["pe-means"] == 2 and not found["first"]["pe-means"]
    assert np.isnan(found["least"]["nsm"]) and found.tested["nsm"] == 4.0
    half = Summary(data, "loss").smallest(within=0.1, share=0.5).set_index("label")
    assert half["least"]["pe-means"] == 0.5 and half["first"]["pe-means"]
    people = rows(
        kmeans(n=10),
        kmeans(n=100),
        runs("pe-means", {1.0: [2.0, 2.0]}, n=10, delta=0.01),
        runs("pe-means", {1.0: [1.0, 1.0]}),
    )
    assert Summary(people, "loss", "n_rows").smallest(within=0.1, share=0.9)["least"].tolist() == [100.0]


def test_higher_is_better_where_it_is():
    data = rows(kmeans(accuracy=0.9), [row("pe-means", 1.0, s, 1.0, accuracy=a) for s, a in enumerate([0.9, 0.5])])
    assert Summary(data, "accuracy").enough(0.1).good.tolist() == [1]


def test_quantile_dots_are_equally_likely_values():
    found = Summary(rows(kmeans(), runs("pe-means", {1.0: list(range(1, 41))})), "loss").quantile_dots(dots=20)
    assert found.value.tolist() == list(range(1, 41, 2)) and set(found.of) == {20}
    assert len(Summary(rows(kmeans(), runs("pe-means", PE)), "loss").quantile_dots()) == 6
    one = Summary(rows(kmeans(), runs("pe-means", PE)), "loss").quantile_dots(at=1.0)
    assert len(one) == 3 and set(one.epsilon) == {1.0}


# ---- figures


def curves(data, colors=LIGHT, **more):
    points, single = Summary(data, "loss").points, Summary(data, "loss").runs
    return tradeoff.curves(
        points, single, colors, tradeoff.styles(points), axis="epsilon", metric="loss", title="t", **more
    )


def test_curves_show_runs_means_intervals_and_kmeans_and_say_not_private():
    figure = curves(rows(kmeans(), runs("pe-means", PE), runs("nsm", PE)))
    assert [trace.name for trace in figure.data] == [
        "PE-means: single runs", "PE-means", "NSM (ours): single runs", "NSM (ours)", "KMeans (not private)",
    ]  # fmt: skip
    assert list(figure.data[1].y) == [3.0, pytest.approx(1.1)] and len(figure.data[0].y) == 6
    low, high = figure.layout.yaxis.range
    assert low < np.log10(1.0) and high > np.log10(4.0)
    assert "NOT PRIVATE" in json.dumps(figure.layout.to_plotly_json())
    assert not any(
        trace.name.endswith("single runs") for trace in curves(rows(kmeans(), runs("nsm", PE)), single=False).data
    )
    assert curves(rows(kmeans(), runs("nsm", PE)), log=False).layout.yaxis.range[0] <= 0
    medians = curves(rows(kmeans(), runs("nsm", PE)), against="KMedians")  # for metrics whose reference is KMedians
    assert medians.data[-1].name == "KMedians (not private)" and "◇ KMedians" in json.dumps(
        medians.layout.to_plotly_json(), ensure_ascii=False
    )


def test_a_loss_is_drawn_as_a_multiple_of_kmeans_where_that_is_known():
    known = rows(kmeans(0.5), runs("pe-means", PE))
    figure = curves(known, times=True)
    assert list(figure.data[1].y) == [6.0, pytest.approx(2.2)] and max(figure.data[0].y) == 8.0
    assert set(figure.data[2].y) == {1.0} and "loss, times KMeans'" in figure.layout.yaxis.title.text
    names = [note.text for note in figure.layout.annotations]
    assert any(re.fullmatch("<span[^>]*>●</span> PE-means", name) for name in names)  # labels repeat the series' marker
    unknown = curves(rows(runs("pe-means", PE)), times=True)
    assert list(unknown.data[1].y) == [3.0, pytest.approx(1.1)]
    assert unknown.layout.yaxis.title.text == "loss (log scale)"


def test_a_picture_that_grows_keeps_its_scale_and_few_runs_have_no_interval():
    two = curves(rows(kmeans(), runs("nsm", {1.0: [1.0, 1.2]})))  # the interval would be .2 to 2.0
    assert not np.any(two.data[1].error_y.array) and max(two.layout.yaxis.range) < np.log10(1.3)
    five = curves(rows(kmeans(), runs("nsm", {1.0: [1.0, 1.2, 1.1, 1.0, 1.2]})))
    assert np.all(five.data[1].error_y.array > 0)
    wide = (-1.0, 2.0)
    assert curves(rows(kmeans(), runs("nsm", PE)), span=wide).layout.yaxis.range == wide


def test_promises_of_two_kinds_never_share_an_axis():
    mixed = rows(kmeans(), runs("pe-means", PE), runs("nsm", PE, notion="rho-distance DP"))
    with pytest.raises(ValueError, match="must not share an axis"):
        curves(mixed)


def test_end_labels_keep_their_distance_and_their_order():
    for wanted in ([0.1, 0.1, 0.1], [0.0, 0.5, 1.0], [0.2, 0.21, 0.9, 0.91, 0.92], [0.5]):
        places = tradeoff._apart(wanted, 0.06)
        assert all(b - a >= 0.06 - 1e-9 for a, b in zip(places, places[1:], strict=False))
        assert np.mean(places) == pytest.approx(np.mean(wanted))


@pytest.mark.parametrize("colors", [LIGHT, DARK], ids=["light", "dark"])
def test_every_algorithm_has_its_own_symbol_and_dash(colors):
    private = [slug for slug in ALGORITHMS if slug != "kmeans"]
    look = tradeoff.styles(pd.DataFrame({"series": private, "algorithm": private}))
    first = list(look.values())
    assert len({(style.marker, style.dash, style.light) for style in first}) == len(first)
    assert all(tradeoff.glyph(style, colors).startswith("<svg") for style in look.values())


def test_bars_dots_and_heat_draw():
    data = rows(kmeans(), kmeans(k=5), runs("pe-means", PE), runs("pe-means", PE, k=5, found=5))
    points, areas = Summary(data, "loss").points, Summary(data, "loss").areas
    look = tradeoff.styles(points)
    bars = tradeoff.area_bars(areas, LIGHT, look, relative=True, title="t")
    assert sorted(bars.data[0].x) == pytest.approx([105.0, 105.0])
    found = Summary(data, "loss").quantile_dots()
    dots = tradeoff.dots(found[found.epsilon == 1.0], LIGHT, look, metric="loss", title="t")
    assert [len(trace.x) for trace in dots.data] == [3, 3]
    heat = tradeoff.heat(points, LIGHT, x="epsilon", y="n_clusters", relative=True, title="t")
    assert [list(line) for line in heat.data[0].text] == [["3×", "1.1×"]] * 2


# ---- estimate, report, script


def test_a_time_is_expected_once_every_kind_is_known_and_budgets_add_up():
    sweep = Sweep(data=("sample:tiny",), variants=(Variant("pe-means", "pe-means"),), epsilon=EPSILONS, repeats=4)
    every = list(sweep.runs())
    cells = estimate.missing(every, {})
    assert [cell.algorithm for cell in cells] == ["kmeans", "pe-means"]
    known = {estimate.kind(cells[0]): 1.0}
    assert estimate.seconds(every, known, 2) is None
    known[estimate.kind(cells[1])] = 0.5
    assert estimate.seconds(every, known, 2) == estimate.START_SECONDS + (1 + 8 * 0.5) / 2
    # only the remaining runs count
    assert estimate.seconds(every[-2:], known, 2) == estimate.START_SECONDS + 2 * 0.5 / 2
    assert estimate.seconds([], {}, 2) == 0
    assert estimate.trial(cells[0]) > 0
    n, epsilon = estimate.composed(sweep)
    delta = 1 / 4_000
    squares = sum(4 * ALGORITHMS["pe-means"](epsilon=e, delta=delta).guarantee(2, 40).mu ** 2 for e in EPSILONS)
    assert n == 8 and epsilon > 2
    assert epsilon == pytest.approx(epsilon_of_mu(np.sqrt(squares), delta))


@pytest.mark.slow
def test_a_report_is_one_offline_page_with_every_table(tmp_path, capsys):
    data = rows(
        kmeans(), runs("pe-means", PE), runs("nsm", {1.0: [1.0, 1.01, 1.02], 2.0: [1.0, 1.0, 1.0]}),
        row("nsm", 4.0, 0, None, status="failed", reason="<b>no</b>"),
    )  # fmt: skip
    made = datetime.date(2026, 11, 21)
    text = report(data, "A <title>", [Published("d", "pe-means", 1.2, epsilon=2.0, source="Table 1")], made=made)
    assert len(text.encode()) < 2_000_000 and "21 November 2026" in text
    assert (
        "On d at ε = 1, NSM (ours) did best of 2 methods" in text or "On d at ε = 1, nsm did best of 2 methods" in text
    )
    outside = re.sub(r"<script.*?</script>", "", text, flags=re.DOTALL)
    assert not re.search(r"(src|href)=[\"']?(https?:)?//", outside) and "A &lt;title&gt;" in text
    for words in (
        "NOT PRIVATE",
        "Area under",
        "Smallest tested",
        "Who wins where",
        "Compared with published numbers",
        "Failed runs",
    ):
        assert words in outside
    assert "&lt;b&gt;no&lt;/b&gt;" in outside and "Table 1" in outside and "@media print" in outside
    with pytest.raises(ValueError, match="no finished run"):
        report(rows(kmeans()), "t")
    path = tmp_path / "rows.jsonl"
    with RowFile(path) as file:
        for one in data.to_dict("records"):
            file.append({name: None if value == "" or value != value else value for name, value in one.items()})
    assert main(["report", str(path), "-o", str(tmp_path / "out.html")]) == 0
    assert "Who wins where" in (tmp_path / "out.html").read_text()
    assert main(["report", str(tmp_path / "none.csv"), "-o", str(tmp_path / "out.html")]) == 2
    assert "none.csv does not exist" in capsys.readouterr().err


def test_published_numbers_stand_beside_ours():
    data = rows(kmeans(0.5), runs("pe-means", PE))
    found = against_published(
        data,
        [
            Published("d", "pe-means", 1.0, epsilon=1.0),
            Published("d", "pe-means", 1.0, what="ratio", epsilon=2.0),
            Published("d", "pe-means", 1.0, what="area"),
            Published("d", "nsm", 1.0),
        ],
    )
    assert found.ours.tolist()[:3] == [3.0, pytest.approx(2.2), pytest.approx((3 + 1.1) / 2 / 0.5)]
    assert np.isnan(found.ours[3])


@pytest.mark.slow
def test_the_downloaded_script_reruns_exactly_this(tmp_path):
    sweep = Sweep(data=("sample:tiny",), variants=(Variant("pe-means", "pe-means"),), epsilon=(1.0,), repeats=1)
    script = tmp_path / "again.py"
    script.write_text(to_script(sweep, 'A "quoted" \\ title'))
    ast.parse(script.read_text())
    environment = {"PYTHONPATH": str(ROOT), "PATH": "/usr/bin:/bin"}
    subprocess.run([sys.executable, str(script)], cwd=tmp_path, env=environment, check=True, capture_output=True)
    again = pd.read_csv(tmp_path / "dpviz-sweep.csv").set_index("key").loss
    assert again.to_dict() == {cell.key: pytest.approx(execute(cell)["loss"], rel=1e-12) for cell in sweep.runs()}


# ---- made-up people


def test_people_are_made_up_from_released_values_only_and_lie_in_the_public_box():
    data = load_sample("town")
    trace = ALGORITHMS["nsm"](n_clusters=5, epsilon=2.0).run(data.X, domain=data.domain, seed=0)
    made = simulate(trace.coreset, trace.domain, 4000, np.random.default_rng(0))
    assert made.shape == (4000, 2)
    assert (made >= data.domain.low - 1e-9).all() and (made <= data.domain.high + 1e-9).all()
    ours, theirs = (normalized_loss(X, trace.cluster_centers, data.domain) for X in (made, data.X))
    assert 0.3 < ours / theirs < 3  # the simulated groups keep their positions
    single = Coreset(np.zeros((1, 2)), np.ones(1), np.ones(1))
    assert np.ptp(simulate(single, data.domain, 50, np.random.default_rng(0))) > 0
    with pytest.raises(ValueError, match="noise left none"):
        simulate(Coreset(np.zeros((2, 2)), np.array([-1.0, 0.0]), np.ones(2)), data.domain, 5, np.random.default_rng(0))


def test_a_curve_that_leaves_the_picture_ends_in_an_arrow_with_its_number():
    flat = {0.25: [1.2] * 6, 1.0: [1.1] * 6, 4.0: [1.0] * 6}
    high = {0.25: [3.3] * 6, 1.0: [1.15] * 6, 4.0: [1.0] * 6}
    figure = curves(rows(kmeans(), runs("pe-means", flat), runs("nsm", flat), runs("dpm", high)), times=True)
    low, top = figure.layout.yaxis.range
    assert np.log10(1.2) < top < np.log10(1.25) and np.log10(1.2) - low > 0.8 * (
        top - low
    )  # the other curves fill the picture's height
    (arrow,) = [note for note in figure.layout.annotations if "↑" in (note.text or "")]
    assert "3.3 ×" in arrow.text and arrow.x == np.log10(0.25)
    above = [trace for trace in figure.data if trace.name.endswith("above the picture")]
    assert [len(trace.x) for trace in above] == [6] and set(above[0].y) == {10**top}
    always = {e: [3.3] * 6 for e in flat}  # no part of this curve would remain in the picture
    for data in (rows(kmeans(), runs("pe-means", flat), runs("dpm", always)), rows(kmeans(), runs("dpm", high))):
        whole = curves(data, times=True)
        assert whole.layout.yaxis.range[1] > np.log10(3.3)
        assert not [note for note in whole.layout.annotations if "↑" in (note.text or "")]


@pytest.mark.parametrize("sample", ["tiny", "iris", "wine"])
def test_the_title_counts_the_runs_of_a_data_set(sample):
    slugs = ("dp-lloyd", "fastlloyd", "glloyd")
    sweep = Sweep(data=(f"sample:{sample}",), variants=tuple(Variant(s, s) for s in slugs), epsilon=(1.0,), repeats=2)
    made = rows([execute(run) for run in sweep.runs()])
    best = made.loss[made.algorithm == "kmeans"].iloc[0]
    near = sum(made.loss[made.algorithm == slug].mean() <= 1.1 * best for slug in slugs)
    expected = {0: "none of three methods is", 1: "one of three methods is", 2: "two of three methods are",
                3: "all three methods are"}[near]  # fmt: skip
    assert conclusion(Summary(made, "loss").points, "loss", "epsilon") == f"At ε 1 {expected} within 10% of KMeans"


@pytest.mark.parametrize(("nsm", "best"), [(1.2, "NSM (ours)"), (2.5, "NSM (ours)"), (30.0, "PE-means")])
def test_captions_below_the_curves_are_computed(nsm, best):
    pe = {0.5: [3.0, 3.0], 1.0: [2.75, 2.75]}
    summary = Summary(rows(kmeans(), runs("pe-means", pe), runs("nsm", {e: [nsm, nsm] for e in pe})), "loss")
    mean = 2.875 if best == "PE-means" else nsm  # the trapezoidal rule applied to 3 and 2.75
    assert area_words(summary.areas, "loss") == f"{best} has the best mean, {mean:.2f} × KMeans"
    low = min(nsm, 2.75)
    assert dots_words(summary.quantile_dots(at=1.0), "loss") == f"{best} has the best median, {low:.3g}"
    points = summary.points
    assert heat_words(points[points.algorithm == "pe-means"], "loss") == "2.75 to 3.00 × KMeans"
    assert heat_words(points[points.algorithm == "nsm"], "loss").startswith(f"{nsm:.2f}" if nsm < 10 else "30 ×")


def test_a_method_whose_centers_are_merged_says_into_how_many():
    """A method that finds its own number of centers is not named like one that was held to k."""

    def names(values, **axes):
        variants = (Variant("dpm", "dpm", values=values), Variant("nsm", "nsm"))
        sweep = Sweep(data=("sample:tiny",), variants=variants, epsilon=(4.0,), axes=tuple(axes.items()), repeats=2)
        every = Summary(table([execute(run) for run in sweep.runs()]), "loss", "epsilon")
        return set(every.points.series)

    assert names((("exactly_k", True),)) == {"DPM, then 2 centers", "NSM (ours)"}
    assert names(()) == {"DPM", "NSM (ours)"}
    varied = names((("exactly_k", True),), n_clusters=(2, 3))
    assert varied == {f"{name}, k = {k}" for name in ("DPM, then k centers", "NSM (ours)") for k in (2, 3)}
