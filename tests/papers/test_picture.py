"""Check the pictures of the papers' items: their marks, positions and names."""

import re
from pathlib import Path
from xml.etree import ElementTree

import pandas as pd
import pytest

from dpviz.algorithms import ALGORITHMS
from dpviz.figures.kit.theme import DARK, LIGHT
from dpviz.papers.picture import LEFT, TALL, TOP, key_entries, looks, panel_svg, panels, picture_svg
from dpviz.papers.registry import Check, PrintedNumber, papers
from dpviz.papers.results import load_numbers
from dpviz.papers.words import curve_name, plainly, set_name
from tests.papers.test_papers import item, number

RESULTS = Path(__file__).parents[2] / "dpviz" / "papers" / "results"
ITEMS = [(paper, one) for paper in papers().values() for one in paper.items]
SVG = "{http://www.w3.org/2000/svg}"
BELOW = (Check("below", better="nsm", worse=("dpm",)),)


def bars(svg):
    """Return the two ends of every vertical bar."""
    paths = [path.get("d") for path in ElementTree.fromstring(svg).iter(f"{SVG}path")]
    found = [re.fullmatch(r"M[\d.]+ ([\d.]+)V([\d.]+)", d) for d in paths]
    return [tuple(map(float, match.groups())) for match in found if match]


@pytest.mark.parametrize(("paper", "one"), ITEMS, ids=lambda one: one.id)
def test_every_item_is_drawn_on_screen_and_as_a_file_without_slugs(paper, one):
    found = panels(one, load_numbers(RESULTS / f"{paper.id}-{one.id}.csv"))
    assert found and all(panel.points for panel in found)
    picture = ElementTree.fromstring(picture_svg(f"{paper.short}, {one.name}", found, DARK))
    ticks = [label.text for label in picture.iter(f"{SVG}text") if label.get("text-anchor") == "end"]
    assert max(map(len, ticks)) * 6.7 <= LEFT - 5  # 6.7 pixels per character, as in the key
    text = "".join(picture.itertext())
    assert "NOT PRIVATE" in text and one.name in text
    names = " ".join([text, *(panel.words for panel in found)])
    slugs = [slug for slug in ALGORITHMS if "-" in slug and re.search(rf"(?<![\w-]){slug}(?![\w-])", names)]
    assert slugs == [] and "_" not in names and "bench:" not in names
    assert {name for name, _ in key_entries(found, LIGHT)} >= {p.curve for panel in found for p in panel.points}


def test_a_panel_holds_ours_with_the_interval_and_the_printed_number_as_an_outline():
    numbers = pd.DataFrame([number("nsm", 2.0, 0.5), number("dpm", 3.0, None), number("KMeans", 1.0, None)])
    one = item(checks=BELOW, printed=(PrintedNumber("a", "nsm", 2.4), PrintedNumber("a", "lsh-splits", 4.0)))
    (panel,) = panels(one, numbers)
    assert panel.reference == 1.0 and panel.axis == ""
    assert panels(one, numbers.replace({"mean": {1.0: 1e-17}}))[0].reference is None  # KMeans' distance from itself
    assert [(p.curve, p.value, p.printed) for p in panel.points] == [
        ("NSM (ours)", 2.0, False), ("DPM", 3.0, False), ("NSM (ours)", 2.4, True), ("LSH-Splits", 4.0, True),
    ]  # fmt: skip
    assert "NSM (ours) 2 ± 0.5" in panel.words and "NSM (ours) printed 2.4" in panel.words
    svg = panel_svg(panel, looks([panel]), LIGHT)
    ((low, high),) = bars(svg)  # only the point with an interval has a bar
    assert TOP < high < low < TALL
    assert svg.count(f'fill="{LIGHT.bg}" stroke-width="2"') == 2
    assert len(key_entries([panel], LIGHT)) == 3 + 2  # the key lists 3 curves, KMeans' line, and the outline


def test_curves_run_along_the_axis_that_is_judged_and_are_split_by_the_other():
    grid = [number("nsm", a + b, 0.1, alpha=a, rounds=b, point="x") for a in (1, 2) for b in (4, 8)]
    checks = (Check("grows", better="nsm", axis="alpha"), Check("grows", better="nsm", axis="rounds"))
    first, second = panels(item(checks=checks), pd.DataFrame(grid))
    assert [(p.curve, p.x) for p in first.points] == [(f"NSM (ours), rounds T {b}", a) for a in (1, 2) for b in (4, 8)]
    assert second.axis == "rounds" and {p.curve for p in second.points} == {"NSM (ours), α 1", "NSM (ours), α 2"}


def test_a_claim_about_some_sets_is_drawn_for_these_and_nothing_run_is_nothing_drawn():
    numbers = pd.DataFrame([number("nsm", 1.0, 0.1, data=data) for data in ("a", "b")])
    (panel,) = panels(item(checks=(Check("below", better="nsm", worse=("dpm",), data=("b",)),)), numbers)
    assert panel.data == "b"
    assert panels(item(checks=BELOW), load_numbers(Path("nowhere.csv"))) == []


def test_names_are_those_of_a_reader():
    assert set_name("bench:sklearn_16_4") == "blobs, k 16, 4 columns" and set_name("sample:iris") == "iris"
    assert curve_name("lsh-splits") == "LSH-Splits" and curve_name("few cuts") == "few cuts"
    words = plainly("bench:unequal_8_2_0, n_clusters 8: dist-dp-random-points 0.04, dist-dp 0.05")
    assert words == "Synth, k 8, 2 columns, k 8: dist-DP random points 0.04, dist-DP 0.05"
    assert plainly("bench:birch2_25k, nsm, auc") == "birch2, 25,000 rows, NSM (ours), area under loss curve"
