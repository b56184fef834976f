"""Check the Papers page: every item has a verdict and printed numbers next to ours; bad result files are reported."""

import re
from html import escape

import pandas as pd
import pytest

from dpviz.papers import bench
from dpviz.papers.registry import papers
from dpviz.papers.verdicts import NOT_RUN, REPRODUCES
from pages._ui.learn.papers import view as shown
from pages._ui.learn.papers import writeup
from pages._ui.learn.papers.bench import BENCH, BOX
from tests.pages.sentences import code_names
from tests.pages.visitor import visit

ITEMS = {paper.id: [item.name for item in paper.items] for paper in papers().values()}


@pytest.fixture
def page():
    return visit("papers")


def words(app):
    return " ".join([*(m.value for m in app.markdown), *(h.proto.body for h in app.get("html"))])


@pytest.mark.slow
def test_every_item_of_every_paper_has_its_place_and_the_counts_add_up(page):
    assert not page.exception
    found = shown.glance(papers())
    assert len(found.verdicts) == 23 and found.sentence in words(page)
    assert sum(found.count(word) for word in shown.WORDS[1:]) == 23 and found.count(NOT_RUN) == 0
    assert "not run here" not in found.sentence
    for name, items in ITEMS.items():
        page.segmented_control(key="papers_paper").set_value(name).run()
        assert not page.exception and [one.value for one in page.subheader] == items
        assert words(page).count('<div style="display:grid') == len(items)  # one picture per item


def opened(app, paper):
    """Open the boxes of all items of a paper."""
    app.segmented_control(key="papers_paper").set_value(paper.id)
    for item in paper.items:
        app.session_state[f"papers_{paper.id}_{item.id}"] = True
    return app.run()


@pytest.mark.slow
def test_committed_table_3_shows_printed_bytes_beside_ours(page):
    assert not page.dataframe  # a closed box sends nothing
    opened(page, papers()["fastlloyd"])
    tables = [frame.value for frame in page.dataframe if "printed" in frame.value]
    assert any({"192", "1,440"} <= set(table.printed) and "not run" in set(table.ours) for table in tables)
    cells = [str(cell) for frame in page.dataframe for cell in frame.value.to_numpy().ravel()]
    assert not code_names(cells) and not any("bench:" in cell for cell in cells)


@pytest.mark.slow
def test_items_that_were_not_run_say_so_and_name_the_command(page, monkeypatch, tmp_path):
    monkeypatch.setattr(shown, "RESULTS", tmp_path)
    opened(page, papers()["pe-means"])
    assert words(page).count("not yet run on this machine") == len(ITEMS["pe-means"])
    assert any("python -m dpviz reproduce pe-means fig1" in code.value for code in page.code)
    page.selectbox(key="papers_verdict").set_value(REPRODUCES).run()
    assert not page.exception and "No item of this paper" in page.info[0].value
    page.selectbox(key="papers_verdict").set_value(NOT_RUN).run()
    assert len(page.subheader) == len(ITEMS["pe-means"])


@pytest.mark.slow
def test_our_own_method_stands_beside_the_papers_with_proof_limits_and_benchmark(page, monkeypatch, tmp_path):
    page.segmented_control(key="papers_paper").set_value("nsm").run()
    assert not page.exception and not any(box.key == "papers_verdict" for box in page.selectbox)
    parts = ["Idea", "Algorithm", "Theorem and proof", "Measured", "Ablations, limits, and weak spots", "References"]
    assert [one.value for one in page.subheader] == parts and len(page.expander) == 3
    text = " ".join(one.value for one in page.markdown)
    assert all(f"**{lead}**" in text for lead in ("Theorem", "Proof", "Ablations", "Tried and dropped", "Weak spots"))
    assert not code_names([re.sub(r"`[^`]*`", "", text)]) and "+-" not in text
    table = page.dataframe[0].value.set_index("data")
    assert len(table) == 14 and table.area["iris"] == "1.375 ± 0.085" and table["ε 1"]["adult"] == "1.00"
    monkeypatch.setattr(writeup, "MEASURED", tmp_path)
    page.run()
    assert not page.exception and "Not yet run on this machine" in words(page) and not page.expander


@pytest.mark.slow
def test_the_benchmark_shows_every_family_and_its_bounds_are_a_drag(page):
    page.segmented_control(key="papers_paper").set_value(BENCH).run()
    known = bench.read()
    assert not page.exception and known is not None
    for box in BOX.spec.choices:
        page.select_slider(key=BOX.key).set_value(box).run()
        told = words(page)
        assert not page.exception and all(escape(one) in told for one in known.families.values())
        overall = bench.means(known.areas, box).loc["all"]
        assert f"<b>{overall.min():.2f}</b>" in told and known.about["frozen"][:10] in page.caption[0].value


def test_means_over_draws_are_geometric_and_a_failed_run_leaves_its_cell_empty():
    lines = [
        {"family": family, "box": "tight", "draw": draw, "method": method, "epsilon": 1.0, "loss": loss, "reference": 1}
        for family, method, losses in (
            ("a", "x", (1, 4)),
            ("a", "y", (3, None)),
            ("b", "x", (8, 8)),
            ("b", "y", (1, 1)),
        )
        for draw, loss in enumerate(losses)
    ]
    found = bench.means(bench.areas(pd.DataFrame(lines)), "tight")
    assert found.x.tolist() == pytest.approx([2, 8, 4]) and found.y.isna().tolist() == [True, False, True]
