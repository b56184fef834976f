"""Check that the shipped atlas is complete, small and of this version; CI also repeats a share of its runs."""

import numpy as np
import pytest

from dpviz.atlas import averages, files, noised, rounds
from dpviz.atlas.cells import STOPS, STORY, STORY_SEEDS, Chapter, chapters, opened, row
from dpviz.atlas.machines import agrees
from dpviz.audits.reconstruct import exactly, published, read_off

MAKE_THEM = "outdated files: delete them, run `python -m dpviz atlas --make`, and commit the new ones"


def test_the_folder_holds_every_chapter_and_nothing_else_in_at_most_8_mb():
    wanted = {f"{chapter.name}.parquet" for chapter in chapters()}
    assert {path.name for path in files.FOLDER.iterdir()} == wanted | {rounds.NAME, averages.NAME, noised.NAME}
    assert sum(path.stat().st_size for path in files.FOLDER.iterdir()) <= 8_000_000


@pytest.mark.parametrize("chapter", chapters(), ids=lambda chapter: chapter.name)
def test_every_file_holds_todays_runs_in_their_order(chapter):
    table, _ = files.load(chapter)
    stored = [table[name].to_pylist() for name in ("people", "epsilon", "seed")]
    assert list(zip(*stored, strict=True)) == [(cell.people or 0, cell.epsilon, cell.seed) for cell in chapter.cells()]


@pytest.mark.parametrize("chapter", [Chapter(*STORY), Chapter("tiny", "nsm"), Chapter("tiny", "kmeans")], ids=str)
def test_what_the_story_is_made_of_is_what_the_code_releases_today(chapter):
    (table, _), cells = files.load(chapter), chapter.cells()
    for place in (0, len(cells) // 2, len(cells) - 1):
        (stored,) = table.slice(place, 1).to_pylist()
        assert agrees(stored, row(cells[place])), MAKE_THEM


@pytest.mark.slow
def test_the_first_stored_rounds_come_out_again():
    assert rounds.up_to_date(), MAKE_THEM


@pytest.mark.slow
def test_averages_and_bets_of_start_come_out_again():
    """Check three values of k and one bet of each kind; the slow test checks all values and bets."""
    who, bets = averages.read()
    data = opened(STORY[0], None).data
    for k in (2, 3, 4):
        reads = read_off(published(averages.lloyd(k, None, averages.DRAW)), data.domain.radius)
        assert set(exactly(reads, data.X, data.domain).tolist()) <= set(sum(who.rows[: k - 1], ())), MAKE_THEM
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(averages, "POOL", 1)
        patched.setattr(averages, "TRIED", 1)
        again = averages.bets(who.alex)
    for kind in ("exact", "private"):
        for stored, made in zip(getattr(bets, kind)[:: averages.POOL], getattr(again, kind), strict=True):
            np.testing.assert_allclose(made.centers, stored.centers, rtol=1e-6, err_msg=MAKE_THEM)


@pytest.mark.slow
def test_noised_averages_of_start_come_out_again():
    """Check the weakest and the strongest noise; the slow test checks all strengths."""
    who, stored = averages.read()[0], noised.read()
    for one in (stored[1], stored[-1]):
        row = noised.outcome(one.epsilon, averages.DRAW, who.alex)
        assert row["found"] == one.found[one.shown], MAKE_THEM
        np.testing.assert_allclose(12 * row["off"], one.off[one.shown], rtol=1e-6, err_msg=MAKE_THEM)
    assert (files.FOLDER / noised.NAME).stat().st_size < 40_000


@pytest.mark.slow
def test_all_that_start_tells_comes_out_again():
    assert averages.up_to_date() and noised.up_to_date(), MAKE_THEM


def test_the_storys_budget_finds_the_groups_that_a_quarter_loses_and_300_people_break():
    whole, few = (files.read(*STORY, people) for people in (None, 300))
    assert [stop.epsilon for stop in whole.stops] == list(STOPS) and whole.seeds == STORY_SEEDS
    again = {(chart, e): int((chart.at(e).found == chart.groups).sum()) for chart in (whole, few) for e in (0.25, 1.0)}
    assert again[whole, 1.0] >= 60 > 40 >= again[whole, 0.25]
    assert again[few, 1.0] <= 20
