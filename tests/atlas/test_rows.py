"""Check the rows that a sweep takes from the atlas: they equal those of computed runs, and exist only if stored."""

import dataclasses
from functools import partial

import pytest

from dpviz.atlas import cells, files, rows
from dpviz.atlas.cells import EXACTLY_K, Chapter
from dpviz.sweeps.sweep import MEASURED, REFERENCE, Sweep, Variant, execute


@pytest.fixture(scope="module")
def charts(tmp_path_factory):
    place = tmp_path_factory.mktemp("atlas")
    for chapter in (Chapter("tiny", "kmeans"), Chapter("tiny", "dp-lloyd"), Chapter("tiny", "dpm", EXACTLY_K)):
        files.write(chapter, [cells.row(cell) for cell in chapter.cells()], place)
    return partial(files.read, folder=place)


EXACT = Variant("DPM", "dpm", values=EXACTLY_K)
SWEEP = Sweep(data=("sample:tiny",), variants=(Variant("DP-Lloyd", "dp-lloyd"), EXACT), epsilon=(0.5, 2.0), repeats=2)


@pytest.mark.slow
def test_a_stored_row_is_the_row_of_the_run(charts):
    runs = list(SWEEP.runs())
    again = list(rows.stored_rows(runs, charts))
    assert len(again) == len(runs) == 9 and again[0]["algorithm"] == REFERENCE
    for run, row in zip(runs, again, strict=True):
        made = execute(run)
        assert {name: row[name] for name in row if name not in MEASURED} == {
            name: made[name] for name in made if name not in MEASURED
        }
        assert all(row[name] is None for name in MEASURED)


@pytest.mark.parametrize(
    "change",
    [
        {"epsilon": (0.6,)},
        {"seed": 20},
        {"n_rows": (20,)},
        {"axes": (("n_clusters", (3,)),)},
        {"axes": (("delta", (1e-9,)),), "variants": (Variant("FastLloyd", "fastlloyd"),)},
        {"metrics": ("loss", "silhouette")},
        {"variants": (Variant("exact", "dp-lloyd", noise="none"),)},
        {"variants": (Variant("more rounds", "dp-lloyd", values=(("iterations", 9),)),)},
        {"variants": (Variant("DPM", "dpm"),)},
        {"data": ("sample:blobs:n_rows=300",)},
    ],
    ids=str,
)
def test_what_is_not_in_the_atlas_is_left_to_be_run(charts, change):
    sweep = dataclasses.replace(SWEEP, **change)
    assert not [row for run in sweep.runs() if run.algorithm != REFERENCE and (row := rows.stored(run, charts))]
